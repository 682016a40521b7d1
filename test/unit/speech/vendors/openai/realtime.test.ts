import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RealtimeEvent } from '../../../../../src/speech/asr/realtime-events.ts';
import type { DialectSocket } from '../../../../../src/speech/asr/recognition-dialect.ts';
import { realtimeDialect } from '../../../../../src/speech/vendors/openai/realtime.ts';

const NAME = 'conversation.item.input_audio_transcription';

function socket(): DialectSocket {
  const options = { model: 'gpt-live-transcribe', apiKey: 'a-key', keyAdvice: '', usesG711: true, isOpenAi: true };
  return realtimeDialect(options).connect({ language: 'en', sampleRateHz: 8_000 });
}

const said = (wire: DialectSocket, event: unknown): readonly RealtimeEvent[] => {
  const read = wire.read(JSON.stringify(event)) ?? [];
  return 'type' in read ? [read] : read;
};

it('reads any JSON without a throw, and says of anything else that it is none', () => {
  const types = fc.constantFrom(
    'error',
    'session.updated',
    `${NAME}.delta`,
    `${NAME}.completed`,
    `${NAME}.failed`,
    'input_audio_buffer.committed',
  );
  const event = fc.record(
    {
      type: fc.oneof(types, fc.string()),
      item_id: fc.jsonValue(),
      delta: fc.jsonValue(),
      transcript: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(event, fc.jsonValue()), { maxLength: 8 }), (events) => {
      const wire = socket();
      for (const each of events) expect(wire.read(JSON.stringify(each))).toBeDefined();
    }),
  );
  expect(socket().read('{"type":')).toBeUndefined();
  expect(socket().read('')).toBeUndefined();
});

it('tells each text once, in the order of the commits, whatever the order in which texts come', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6, maxLength: 6 }), (order) => {
      const wire = socket();
      for (const item of order.keys()) {
        wire.commit();
        said(wire, { type: 'input_audio_buffer.committed', item_id: `i${item}` });
      }
      const finals = order.flatMap((item) =>
        said(wire, { type: `${NAME}.completed`, item_id: `i${item}`, transcript: `t${item}` }),
      );
      expect(finals.map((final) => (final.type === 'final' ? [final.seg, final.text, final.isAnswer] : final))).toEqual(
        [...order.keys()].map((item) => [item, `t${item}`, true]),
      );
    }),
  );
});

it('calls a text the answer to a commit only when it was committed here', () => {
  const wire = socket();
  said(wire, { type: 'input_audio_buffer.committed', item_id: 'by the server' });
  wire.commit();
  said(wire, { type: 'input_audio_buffer.committed', item_id: 'by us' });
  const finals = ['by the server', 'by us'].flatMap((id) =>
    said(wire, { type: `${NAME}.completed`, item_id: id, transcript: 'x' }),
  );
  expect(finals.map((final) => (final.type === 'final' ? final.isAnswer : undefined))).toEqual([false, true]);
});

it('answers a commit of a server that confirms none', () => {
  const wire = socket();
  wire.commit();
  expect(said(wire, { type: `${NAME}.completed`, item_id: 'a', transcript: ' hello ' })).toMatchObject([
    { text: 'hello', isAnswer: true },
  ]);
});

it('joins the deltas of an item, and keeps a later item apart', () => {
  const wire = socket();
  expect(said(wire, { type: `${NAME}.delta`, item_id: 'a', delta: 'book' })).toMatchObject([
    { type: 'partial', seg: 0, text: 'book' },
  ]);
  expect(said(wire, { type: `${NAME}.delta`, item_id: 'b', delta: 'and' })).toMatchObject([
    { type: 'partial', seg: 1, text: 'and' },
  ]);
  expect(said(wire, { type: `${NAME}.delta`, item_id: 'a', delta: ' a table' })).toMatchObject([
    { seg: 0, text: 'book a table' },
  ]);
});

it.each([
  [{ code: 'session_expired', type: 'invalid_request_error', message: 'over' }, 'unavailable'],
  [{ code: null, type: 'server_error', message: 'sorry' }, 'unavailable'],
  [{ code: 'rate_limit_exceeded', type: 'requests', message: 'slow down' }, 'busy'],
  [{ code: 'insufficient_quota', type: 'insufficient_quota', message: 'no balance' }, 'auth'],
  [{ code: 'model_not_found', type: 'invalid_request_error', message: 'no such model' }, 'request'],
])('reads the error %j as %s before the session is ready', (error, kind) => {
  expect(said(socket(), { type: 'error', error })).toMatchObject([{ type: 'error', kind }]);
});

it('takes an error of a request for a warning once the session is ready', () => {
  const wire = socket();
  said(wire, { type: 'session.updated', session: {} });
  const error = { code: 'invalid_value', type: 'invalid_request_error', message: 'Invalid value' };
  expect(said(wire, { type: 'error', error })).toEqual([{ type: 'warning', text: 'Invalid value' }]);
});
