import { describe, expect, it, test } from 'vitest';
import { readEventWebhook } from '../../../../src/carriers/vonage/webhook.ts';

const leg = { uuid: 'u1', from: '15550100001', to: '919812345678', direction: 'outbound' };
const ended = (outcome: string, cause?: string) => ({ state: 'ended', outcome, ...(cause === undefined ? {} : { cause }) });

describe('readEventWebhook', () => {
  test.each([
    [{ status: 'started' }, { state: 'queued' }, false],
    [{ status: 'ringing' }, { state: 'ringing' }, false],
    [{ status: 'answered', start_time: null }, { state: 'answered' }, false],
    [{ status: 'completed' }, ended('completed'), true],
    [{ status: 'busy' }, ended('busy'), true],
    [{ status: 'cancelled' }, ended('cancelled'), true],
    [{ status: 'timeout' }, ended('no-answer'), true],
    [{ status: 'unanswered', detail: 'unavailable' }, ended('no-answer', 'unavailable'), true],
    [{ status: 'rejected', detail: 'declined' }, ended('rejected', 'declined'), true],
    [{ status: 'rejected', detail: 'invalid_number' }, ended('failed', 'invalid_number'), true],
    [{ status: 'failed', detail: 'cannot_route' }, ended('failed', 'cannot_route'), true],
    [{ status: 'failed', detail: 'x', sip_code: 603 }, ended('rejected', 'x'), true],
    [{ status: 'unanswered', sip_code: '480' }, ended('no-answer', 'SIP 480'), true],
    [{ status: 'something-new' }, undefined, false],
  ])('says how far a dialled call has come by %j', (fields, progress, terminal) => {
    const status = readEventWebhook({ ...leg, ...fields });
    expect(status).toMatchObject({ carrierCallId: 'u1', terminal, streamError: undefined });
    expect(status?.progress).toEqual(progress);
    // A dialled phone that was not reached is no lost socket.
    expect(status?.document).toBeUndefined();
  });

  test.each([
    [{ status: 'human' }, 'person'],
    [{ status: 'machine' }, 'machine'],
    [{ status: 'machine', sub_state: 'beep_start' }, 'machine-done'],
    [{ status: 'machine', sub_state: 'beep_timeout' }, 'machine'],
    [{ status: 'answered' }, undefined],
  ])('reads who answered of %j, which names its call by another field', (fields, witness) => {
    const { uuid: call_uuid, ...others } = leg;
    expect(readEventWebhook({ ...others, call_uuid, ...fields })).toMatchObject({
      carrierCallId: 'u1',
      terminal: false,
      witness,
    });
  });

  it('has the caller hear a sentence where a socket could not be opened', () => {
    const socket = {
      uuid: 'leg',
      to: 'wss://bots.example.org/carriers/vonage/stream/x',
      status: 'failed',
      detail: 'unreachable',
    };
    expect(readEventWebhook(socket)).toMatchObject({
      streamError: 'unreachable',
      document: { text: expect.stringContaining('talk') as string },
    });
  });
});
