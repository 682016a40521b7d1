import { setTimeout as realSleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CarrierControlError, DialUnknownError } from '../../../src/carriers/errors.ts';
import { dialTokenMs } from '../../../src/carriers/dialling.ts';
import { freeswitch } from '../../../src/carriers/freeswitch/carrier.ts';
import { FreeSwitchControl } from '../../../src/carriers/freeswitch/control.ts';
import type { CallControl, DialOrder } from '../../../src/carriers/port.ts';
import { Secret } from '../../../src/config/secrets.ts';
import type { CalleeOutcome, SimulatedCallee } from '../../../src/sim/caller/callee.ts';
import { SimulatedFreeSwitch } from '../../../src/sim/freeswitch/freeswitch.ts';
import { authToken, startGateway } from './gateway.ts';
import { allowedTarget } from '../../support/open-dialling.ts';

const { signal } = new AbortController();
const answers: SimulatedCallee = { outcome: { kind: 'answered', hangUpAfterMs: 1_000 } };

/** A gateway's routes and a FreeSWITCH. */
async function bench(callee: SimulatedCallee = answers, password?: string) {
  const gateway = await startGateway({ others: [freeswitch] });
  const { clock, intake } = gateway;
  const far = await SimulatedFreeSwitch.start({ clock, onDial: () => callee });
  const settings = {
    host: '127.0.0.1',
    port: far.socket.port,
    password: new Secret(password ?? far.eslPassword),
    module: 'mod_audio_fork',
    rateHz: 8_000,
    dialString: 'sofia/gateway/trunk/{number}',
    sipProfile: 'external',
  } as const;
  const control: CallControl = new FreeSwitchControl(settings, clock, (callId, report) =>
    intake.dialReported(callId, { ...report, carrier: 'freeswitch' }),
  );
  const orderOf = async (more: Partial<DialOrder> = {}): Promise<DialOrder> => {
    const at = { carrier: 'freeswitch', callId: 'call_1', attachmentId: 'att_1' };
    const addresses = await gateway.streams.forDial(at, dialTokenMs(3_000));
    const numbers = { from: '+15550100001', to: allowedTarget('+919812345678') };
    return {
      callId: 'call_1',
      ...numbers,
      ringTimeoutMs: 3_000,
      maxDurationMs: 600_000,
      detectMachine: false,
      ...addresses,
      ...more,
    };
  };
  return {
    gateway,
    intake,
    far,
    control,
    dial: async (more?: Partial<DialOrder>) => {
      const dialled = await control.dialling?.dial(await orderOf(more), signal);
      gateway.streams.placed('freeswitch', 'call_1', dialled?.carrierCallId ?? '');
      return dialled;
    },
    place: () => far.place({ url: gateway.url, clock, stream: { light: true } }, authToken),
    async until(isSo: () => boolean): Promise<void> {
      for (let turn = 0; turn < 3_000 && !isSo(); turn += 1) {
        clock.advance(20);
        await realSleep(1);
      }
      expect(isSo()).toBe(true);
    },
    states: () => intake.reported.map(({ progress }) => (progress?.state === 'ended' ? progress.outcome : progress?.state)),
    async [Symbol.asyncDispose]() {
      await far[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

describe('a call that the dialplan connects', () => {
  it('is answered by its query, and carries sound both ways', async () => {
    await using at = await bench();
    const channel = await at.place();
    await at.until(() => at.intake.attachments.length === 1);
    expect(at.intake.answered).toMatchObject([{ carrierCallId: channel.carrierCallId, from: '+15550100001' }]);
    const [attached] = at.intake.attachments;
    attached?.attachment.sendAudio(new Int16Array(1_280));
    await at.until(() => channel.line.payloadBytes.size > 0 && (attached?.events.length ?? 0) > 2);
    attached?.attachment.close('over');
    await channel.line.ended;
    // The channel itself is ended by a command.
    await at.control.hangUp(channel.carrierCallId, signal);
    await channel.ended;
  });

  it('is refused without the password', async () => {
    await using at = await bench();
    await expect(at.far.place({ url: at.gateway.url, clock: at.gateway.clock }, 'guess')).rejects.toThrow(
      'the media socket was refused',
    );
    expect(at.intake.answered).toEqual([]);
  });
});

describe('acting on a channel', () => {
  it.each([
    ['+442079460000', '+442079460000', 'bridge:sofia/gateway/trunk/+442079460000'],
    ['sip:desk@pbx.example', 'sip:desk@pbx.example', 'bridge:sofia/external/sip:desk@pbx.example'],
  ])('passes a caller on to %s, and stops the stream', async (to, dialled, bridge) => {
    await using at = await bench();
    const channel = await at.place();
    await at.control.transfer(channel.carrierCallId, allowedTarget(to), signal);
    await channel.ended;
    expect(channel.dialled).toBe(dialled);
    expect(at.far.socket.commands).toContain(`api uuid_transfer ${channel.carrierCallId} ${bridge} inline`);
  });

  it('presses keys, joins two calls, and ends a call that is over without an error', async () => {
    await using at = await bench();
    const [one, two] = [await at.place(), await at.place()];
    await at.control.sendDigits(one.carrierCallId, '1w2#', signal);
    expect(one.digits).toEqual(['1', '2', '#']);
    await at.control.join?.(one.carrierCallId, two.carrierCallId, signal);
    expect([one.bridgedTo, two.bridgedTo]).toEqual([two.carrierCallId, one.carrierCallId]);
    await Promise.all([one.ended, two.ended]);
    await at.control.hangUp('8f0c2a1e-0000-0000-0000-000000000000', signal);
    await expect(
      at.control.transfer('8f0c2a1e-0000-0000-0000-000000000000', allowedTarget('+15550100003'), signal),
    ).rejects.toThrow(CarrierControlError);
  });

  it.each([
    ['hangUp', ['a\n\nbgapi shutdown']],
    ['hangUp', ['a b']],
    ['sendDigits', ['8f0c2a1e', '1 2']],
    ['transfer', ['8f0c2a1e', '+1555\n\napi shutdown']],
    ['transfer', ['8f0c2a1e', 'sip:a@b,hangup']],
    ['transfer', ['8f0c2a1e', '{a=b}user/1']],
    ['join', ['8f0c2a1e', 'x y']],
  ] as const)('sends nothing for %s with %j', async (method, given) => {
    await using at = await bench();
    const act = at.control[method] as (...args: readonly unknown[]) => Promise<void>;
    await expect(act.call(at.control, ...given, signal)).rejects.toThrow(CarrierControlError);
    expect(at.far.socket.commands).toEqual([]);
  });

  it('has a live call between people copied to us, both sides of it', async () => {
    await using at = await bench();
    const channel = at.far.bridged();
    const grant = { carrier: 'freeswitch', botName: 'clinic', from: '+15550101', to: '+15550102' };
    const streamUrl = await at.gateway.streams.forListening(grant, 60_000);
    await at.control.fork?.(channel.carrierCallId, streamUrl, signal);
    await at.until(() => at.intake.attachments.length === 1);
    const { carrierCallId } = channel;
    // Whoever asked for the address has named the two: the command does not.
    expect(at.intake.answered).toMatchObject([{ ...grant, carrierCallId, mode: 'listen' }]);
    channel.line.say(new Int16Array(1_600).fill(4_000), 8_000, 'other');
    const peak = (track: string): number =>
      Math.max(
        0,
        ...(at.intake.attachments[0]?.events ?? []).flatMap((event) =>
          event.type === 'audio' && event.track === track ? [...event.pcm] : [],
        ),
      );
    await at.until(() => peak('other') > 3_500);
    expect(peak('caller')).toBeLessThan(100);
    await channel.hangUp();
    await expect(at.control.fork?.('8f0c2a1e-0000-0000-0000-000000000000', streamUrl, signal)).rejects.toThrow('No such channel');
    await expect(at.control.fork?.(carrierCallId, `${streamUrl} x`, signal)).rejects.toThrow('cannot be written');
  });

  it('says that nothing was done where the password is wrong, or nobody listens', async () => {
    await using at = await bench(answers, 'guess');
    const refused = await at.control.hangUp('8f0c2a1e', signal).catch((error: unknown) => error);
    expect(refused).toMatchObject({ surelyNotDone: true, retryable: true });
    expect(at.far.socket.commands).toEqual([]);
    await at.far[Symbol.asyncDispose]();
    await expect(at.control.hangUp('8f0c2a1e', signal)).rejects.toMatchObject({ surelyNotDone: true });
  });
});

describe('dialling', () => {
  it('places a call, is told of every step by events, and gets its media with the answer', async () => {
    await using at = await bench();
    expect(await at.dial()).toEqual({ carrierCallId: 'call_1' });
    await at.until(() => at.states().includes('completed'));
    expect(at.states()).toEqual(['ringing', 'answered', 'completed']);
    expect(at.intake.attachments).toMatchObject([{ callId: 'call_1', attachment: { started: { carrierCallId: 'call_1' } } }]);
    expect(at.far.dialled.orders).toMatchObject([
      { from: '+15550100001', to: '+919812345678', ringTimeoutMs: 3_000, maxDurationMs: 600_000 },
    ]);
  });

  it.each([
    ['busy', { kind: 'busy' }, 'busy'],
    ['unanswered', { kind: 'no-answer' }, 'no-answer'],
    ['declined', { kind: 'rejected' }, 'rejected'],
    ['switched off', { kind: 'failed', sip: 480 }, 'no-answer'],
    ['not routed', { kind: 'failed', sip: 503 }, 'failed'],
  ] satisfies [string, CalleeOutcome, string][])('ends without media where the phone is %s', async (_, outcome, expected) => {
    await using at = await bench({ outcome });
    await at.dial();
    await at.until(() => at.states().includes(expected as never));
    expect(at.intake.attachments).toEqual([]);
  });

  it('ends at once where no trunk takes the call', async () => {
    await using at = await bench({ ...answers, order: { kind: 'refused', status: 400 } });
    await at.dial();
    await at.until(() => at.states().includes('failed'));
    expect(at.intake.reported.at(-1)?.progress).toMatchObject({ cause: 'GATEWAY_DOWN' });
  });

  it('can be asked how far a call is, finds one whose order got no answer, and cancels one that rings', async () => {
    await using at = await bench({ ...answers, ringMs: 2_500, order: { kind: 'lost', placed: true } });
    await expect(at.dial()).rejects.toThrow(DialUnknownError);
    const found = await at.control.dialling?.find({ callId: 'call_1', from: '', to: '' }, 0, signal);
    expect(found).toMatchObject({ found: 'placed', carrierCallId: 'call_1', progress: { state: 'ringing' } });
    await at.control.hangUp('call_1', signal);
    await at.until(() => at.far.dialled.calls.every(({ phone }) => phone.isOver));
    expect(await at.control.dialling?.progressOf('call_1', signal)).toBeUndefined();
    expect(await at.control.dialling?.find({ callId: 'call_1', from: '', to: '' }, 0, signal)).toEqual({ found: 'unknown' });
  });

  it.each([
    ['a number with a command in it', { to: allowedTarget('+1555 &system(id)') }],
    ['a caller id with variables in it', { from: '+1555,a=b' }],
    ['an address of the stream with quotes in it', { streamUrl: "wss://x/'" }],
  ])('orders nothing for %s', async (_, more) => {
    await using at = await bench();
    await expect(at.dial(more)).rejects.toMatchObject({ surelyNotDone: true });
    expect(at.far.socket.commands).toEqual([]);
  });
});
