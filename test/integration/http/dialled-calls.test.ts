import { describe, expect, it } from 'vitest';
import { answer, callFields, closeOf, type Gateway, openSocket, openStream, post, startGateway } from './gateway.ts';

const callId = 'call_01jd0000000000000000000000';
const lifeMs = 90_000;
const dial = { carrier: 'twilio', callId, attachmentId: 'att_dial' };
const placed = callFields.CallSid;

const start = (callSid: string): string =>
  JSON.stringify({
    event: 'start',
    start: { callSid, streamSid: 'MZ1', mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 } },
    streamSid: 'MZ1',
  });

const report = (gateway: Gateway, fields: Record<string, string>, id = callId): Promise<Response> =>
  post(gateway, { path: `/carriers/twilio/status/${id}`, fields: { CallSid: placed, Direction: 'outbound-api', ...fields } });

describe('the media of a dialled call', () => {
  it('is let in once, whatever call the carrier made of it, while nobody knows which', async () => {
    await using gateway = await startGateway();
    const { streamUrl, statusUrl } = await gateway.streams.forDial(dial, lifeMs);
    expect(statusUrl).toBe(`${gateway.url}/carriers/twilio/status/${callId}`);
    const socket = await openSocket(streamUrl);
    socket.send(start('CAany'));
    await expect.poll(() => gateway.intake.attachments.map((each) => each.callId)).toEqual([callId]);
    expect(gateway.intake.attachments[0]?.attachment.started.carrierCallId).toBe('CAany');
    expect(await openStream(streamUrl)).toBe(403);
    socket.close();
    expect(gateway.lines.join('')).not.toContain(streamUrl.split('/').at(-1));
  });

  it.each([
    ['the answer to the dial', (gateway: Gateway) => void gateway.streams.placed('twilio', callId, placed)],
    ['a report', async (gateway: Gateway) => void (await report(gateway, { CallStatus: 'ringing' }))],
  ])('is refused where its start names another call than %s', async (_, learn) => {
    await using gateway = await startGateway();
    const { streamUrl } = await gateway.streams.forDial(dial, lifeMs);
    await learn(gateway);
    const socket = await openSocket(streamUrl);
    const closed = closeOf(socket);
    socket.send(start('CAanother'));
    expect(await closed).toEqual({ code: 1008, reason: 'start names another call' });
    expect(gateway.intake.attachments).toEqual([]);
    expect(gateway.intake.abandoned).toMatchObject([{ callId, attachmentId: 'att_dial' }]);
  });

  it('is given up when none has come by the end of the token, which is refused then', async () => {
    await using gateway = await startGateway();
    const { streamUrl } = await gateway.streams.forDial(dial, lifeMs);
    gateway.clock.advance(lifeMs - 1);
    expect(gateway.intake.abandoned).toEqual([]);
    gateway.clock.advance(10_000);
    expect(gateway.intake.abandoned).toMatchObject([{ callId, attachmentId: 'att_dial' }]);
    expect(await openStream(streamUrl)).toBe(403);
  });

  it('has another stream after a redirect, which comes to the voice webhook', async () => {
    await using gateway = await startGateway();
    const { streamUrl } = await gateway.streams.forDial(dial, lifeMs);
    const first = await openSocket(streamUrl);
    first.send(start(placed));
    await expect.poll(() => gateway.intake.attachments.length).toBe(1);
    const again = await openSocket(await answer(gateway, { fields: { ...callFields, Direction: 'outbound-api' } }));
    again.send(start(placed));
    await expect.poll(() => gateway.intake.attachments.length).toBe(2);
    expect(gateway.intake.answered).toMatchObject([{ carrierCallId: placed, direction: 'outbound' }]);
    expect(gateway.intake.answered[0]).not.toHaveProperty('goesOnOnly');
    for (const socket of [first, again]) socket.close();
  });
});

it('tells a webhook of a call that was dialled here from one that somebody else placed', async () => {
  await using gateway = await startGateway();
  await gateway.streams.forDial(dial, lifeMs);
  gateway.streams.placed('twilio', callId, placed);
  await answer(gateway, { fields: { ...callFields, Direction: 'outbound-api' } });
  await answer(gateway, { fields: { ...callFields, Direction: 'outbound-api', CallSid: 'CAanother' } });
  expect(gateway.intake.answered.map(({ goesOnOnly }) => goesOnOnly)).toEqual(['dialled', undefined]);
});

describe('a report at the address of a dial', () => {
  it('says how far the call has come, and ends it as any status does', async () => {
    await using gateway = await startGateway();
    await gateway.streams.forDial(dial, lifeMs);
    expect((await report(gateway, { CallStatus: 'ringing' })).status).toBe(204);
    expect((await report(gateway, { CallStatus: 'busy', SipResponseCode: '486' })).status).toBe(204);
    const about = { callId, carrier: 'twilio', carrierCallId: placed };
    expect(gateway.intake.reported).toMatchObject([
      { ...about, progress: { state: 'ringing' } },
      { ...about, progress: { state: 'ended', outcome: 'busy' } },
    ]);
    expect(gateway.intake.statuses).toEqual([`${placed} ringing false`, `${placed} busy true`]);
  });

  it('says nothing of the call where it names another one', async () => {
    await using gateway = await startGateway();
    await gateway.streams.forDial(dial, lifeMs);
    gateway.streams.placed('twilio', callId, placed);
    expect((await report(gateway, { CallSid: 'CAanother', CallStatus: 'completed' })).status).toBe(204);
    expect(gateway.intake.reported).toEqual([]);
    expect(gateway.lines.join('')).toContain('status report names another call');
  });

  it('is passed on where this process does not know of the dial, as after a restart', async () => {
    await using gateway = await startGateway();
    await report(gateway, { CallStatus: 'no-answer' }, 'call_before');
    expect(gateway.intake.reported).toMatchObject([{ callId: 'call_before', progress: { outcome: 'no-answer' } }]);
  });

  it('is refused at the address of what can be no call', async () => {
    await using gateway = await startGateway();
    expect((await report(gateway, { CallStatus: 'completed' }, 'call%20or%20not')).status).toBe(404);
    expect((await report(gateway, { CallStatus: 'completed' }, 'x'.repeat(300))).status).toBe(404);
    expect(gateway.intake.reported).toEqual([]);
  });

  it('is refused unsigned, and where another address was signed', async () => {
    await using gateway = await startGateway();
    const fields = { CallSid: placed, CallStatus: 'completed' };
    const path = `/carriers/twilio/status/${callId}`;
    expect((await post(gateway, { path, fields, unsigned: true })).status).toBe(400);
    const elsewhere = `${gateway.url}/carriers/twilio/status/call_another`;
    expect((await post(gateway, { path, fields, signedUrl: elsewhere })).status).toBe(403);
    expect(gateway.intake.reported).toEqual([]);
  });
});
