import { expect, it, test } from 'vitest';
import { judgeMessage } from '../../../../src/sim/twilio/stream.ts';

const streamSid = 'MZ1';
const judge = (message: unknown): ReturnType<typeof judgeMessage> => judgeMessage(JSON.stringify(message), streamSid);

it('takes exactly what Twilio takes', () => {
  expect(judge({ event: 'media', streamSid, media: { payload: '/38=' } })).toEqual({
    message: { event: 'media', payload: Buffer.from([0xff, 0x7f]) },
  });
  expect(judge({ event: 'mark', streamSid, mark: { name: 'm' } })).toEqual({ message: { event: 'mark', name: 'm' } });
  expect(judge({ event: 'clear', streamSid })).toEqual({ message: { event: 'clear' } });
});

test.each([
  { note: 'another stream', message: { event: 'clear', streamSid: 'MZ2' } },
  { note: 'no stream', message: { event: 'clear' } },
  { note: 'a sequence number', message: { event: 'clear', streamSid, sequenceNumber: '1' } },
  { note: 'a track', message: { event: 'media', streamSid, media: { payload: '/38=', track: 'outbound' } } },
  { note: 'no payload', message: { event: 'media', streamSid, media: {} } },
  { note: 'a payload that is not base64', message: { event: 'media', streamSid, media: { payload: '%%%%' } } },
  { note: 'a payload cut short', message: { event: 'media', streamSid, media: { payload: 'AAA' } } },
  { note: 'a mark without a name', message: { event: 'mark', streamSid, mark: {} } },
  { note: 'a numbered mark', message: { event: 'mark', streamSid, mark: { name: 1 } } },
  { note: 'an event there is not', message: { event: 'hangup', streamSid } },
  { note: 'a list', message: [] },
  { note: 'null', message: null },
])('warns (31951) about $note', ({ message }) => {
  expect(judge(message)).toEqual({ warning: expect.stringMatching(/^31951: /u) });
});

it('warns about what is no JSON', () => {
  expect(judgeMessage('{', streamSid)).toEqual({ warning: '31951: not JSON' });
});
