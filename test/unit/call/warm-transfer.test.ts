import { describe, expect, it } from 'vitest';
import { sine } from '../../../src/audio/tone.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { AgentLegs, type OpenLeg } from '../../../src/call/transfer/agent-legs.ts';
import type { CallControl, DialOrder, DialProgress } from '../../../src/carriers/port.ts';
import { CarrierControlError, DialUnknownError } from '../../../src/carriers/errors.ts';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { BenchAttachment, CallBench, type DialogScript, LOUD } from './call-bench.ts';

const AGENT = '+15550100';
/** 31 characters of 60 ms. */
const ANNOUNCEMENT_MS = 1_860;

async function* consults(turn: DialogTurn): AsyncIterable<DialogAction> {
  switch (turn.input.kind) {
    case 'start':
      yield { type: 'say', text: 'One moment, I will connect you.' };
      yield { type: 'transfer', to: AGENT, warm: { brief: 'A caller about rent.' } };
      return;
    case 'transfer':
      yield { type: 'note', text: `transfer ${turn.input.outcome}` };
      yield { type: 'say', text: 'Nobody is free.' };
      return;
    case 'spoken':
    case 'keyed':
    case 'no-input':
    case 'tool-result':
      yield { type: 'say', text: 'They are coming.' };
  }
}

function transfersOf(over: object = {}): Bot['transfers'] {
  const transfers = { allow: [AGENT], ...over };
  return botSettings.parse({ name: 'a', voice: 'b', dialog: { kind: 'module', file: 'x' }, transfers }).transfers;
}

/** A call whose dialog has an agent rung, and that agent. */
class ConsultBench extends CallBench {
  readonly legs: AgentLegs;
  readonly orders: DialOrder[] = [];
  readonly hungUp: string[] = [];
  readonly joins: string[][] = [];
  readonly closed: OpenLeg[] = [];
  readonly said: string[] = [];
  agent = new BenchAttachment(this.clock, 'att_agent', undefined, 'CA2');
  dialFails: Error | undefined;
  found: 'placed' | 'unknown' = 'unknown';
  join: CallControl['join'];

  constructor(dialog: DialogScript = consults, transfers: object = {}) {
    let legs: AgentLegs | undefined;
    super(dialog, { transfers: transfersOf(transfers) }, {}, () => {
      legs = new AgentLegs({
        addresses: async ({ legId }) => ({ streamUrl: `wss://gateway/stream/${legId}`, statusUrl: `https://gateway/${legId}` }),
        placed: () => undefined,
        closed: (leg) => void this.closed.push(leg),
      });
      return { legs };
    });
    if (legs === undefined) throw new TypeError('the call was given no legs');
    this.legs = legs;
    this.voiceOf = (text) => {
      this.said.push(text);
      return new Uint8Array(Math.ceil((text.length * 60) / 20) * 160).fill(0x20);
    };
    this.control = {
      // The caller's own is another matter (`hang-up.test.ts`).
      hangUp: async (call) => void (call === 'CA1' || this.hungUp.push(call)),
      transfer: async () => undefined,
      sendDigits: async () => undefined,
      dialling: {
        capabilities: { callsPerSecond: 1, detectsMachines: true, canFind: true },
        dial: async (order) => {
          this.orders.push(order);
          if (this.dialFails !== undefined) throw this.dialFails;
          return { carrierCallId: 'CA2' };
        },
        find: async () =>
          this.found === 'placed'
            ? { found: 'placed', carrierCallId: 'CA2', progress: { state: 'ringing' } }
            : { found: 'unknown' },
        progressOf: async () => undefined,
      },
      ...(this.join === undefined ? {} : { join: this.join }),
    };
  }

  /** The announcement was heard, and the agent's phone rings. */
  async ringing(): Promise<this> {
    await this.start(ANNOUNCEMENT_MS + 200);
    this.report({ state: 'ringing' });
    return this;
  }

  /** The agent says hello and hears the brief out. */
  async briefed(): Promise<this> {
    await this.ringing();
    this.legs.attach(this.legId, this.agent);
    for (const frame of [...Array<boolean>(30).fill(true), ...Array<boolean>(350).fill(false)]) await this.both(frame);
    return this;
  }

  async accepted(): Promise<this> {
    await this.briefed();
    this.agent.emit({ type: 'digit', digit: '1' });
    return this.quiet(100);
  }

  get legId(): string {
    return this.orders[0]?.callId ?? '';
  }

  report(progress: DialProgress): void {
    this.legs.reported(this.legId, { carrier: 'bench', carrierCallId: 'CA2', progress });
  }

  get outcome(): unknown {
    return this.asked.findLast(({ input }) => input.kind === 'transfer')?.input;
  }

  /** 20 ms in which the agent speaks, or does not, and the caller is quiet. */
  async both(speaks: boolean): Promise<this> {
    this.agent.emit({ type: 'audio', pcm: speaks ? LOUD.slice() : new Int16Array(160), timestampMs: undefined });
    return this.quiet(20);
  }
}

describe('while the agent is rung', () => {
  it('rings the agent once the announcement was heard, from the number that was called', async () => {
    using bench = new ConsultBench(consults, { callerId: '+15550000' });
    await bench.start(ANNOUNCEMENT_MS - 200);
    expect(bench.orders).toEqual([]);
    await bench.quiet(400);
    expect(bench.orders).toMatchObject([{ to: AGENT, from: '+15550000', ringTimeoutMs: 30_000, detectMachine: true }]);
    expect(bench.orders[0]?.streamUrl).toBe(`wss://gateway/stream/${bench.legId}`);
    expect(bench.attachment.closedBecause).toBeUndefined();
  });

  it('lets the caller hear a ringing tone and a sentence now and then, and counts no silence', async () => {
    using bench = new ConsultBench(consults, { ringMs: 60_000 });
    await bench.ringing();
    const sentBefore = bench.attachment.sentSamples;
    await bench.quiet(30_000);
    expect((bench.attachment.sentSamples - sentBefore) / 8).toBeGreaterThan(29_000);
    expect(bench.said.filter((text) => text === 'I am still connecting you.')).toHaveLength(2);
    expect(bench.asked).toHaveLength(1);
    expect(bench.session.standing.transfer).toMatchObject({ to: AGENT, state: 'ringing' });
  });

  it('lets the caller talk to the bot, whose dialog sees that an agent is rung', async () => {
    using bench = new ConsultBench();
    await bench.ringing();
    await bench.says(0, 'how long will it take', 2_000, 600);
    expect(bench.asked.at(-1)).toMatchObject({
      input: { text: 'how long will it take' },
      transfer: { to: AGENT, state: 'ringing' },
    });
    expect(bench.session.standing.botText).toBe('They are coming.');
    expect(bench.hungUp).toEqual([]);
  });

  it('hangs the agent up when the caller gives up, however the dialog says so', async () => {
    for (const action of [{ type: 'cancel-transfer' }, { type: 'hangup', reason: 'bye' }] as const) {
      using bench = new ConsultBench(async function* (turn) {
        if (turn.input.kind !== 'spoken') return yield* consults(turn);
        yield { type: 'say', text: 'All right.' };
        yield action;
      });
      await bench.ringing();
      await bench.says(0, 'never mind', 500, 600);
      expect(bench.hungUp).toEqual(['CA2']);
      expect(bench.closed).toHaveLength(1);
      await bench.quiet(3_000);
      expect(bench.outcome).toBeUndefined();
      expect((await bench.hangUp('done')).transfers).toMatchObject([{ outcome: 'cancelled' }]);
    }
  });

  it('hangs the agent up when the caller hangs up, before or after the carrier has taken the order', async () => {
    using bench = new ConsultBench();
    await bench.ringing();
    bench.attachment.emit({ type: 'stopped', reason: 'hung up' });
    await bench.wait(1_600);
    expect((await bench.session.ended).endReason).toBe('caller-hangup');
    expect(bench.hungUp).toEqual(['CA2']);
    using slow = new ConsultBench();
    let placed: (found: { carrierCallId: string }) => void = () => undefined;
    slow.control = {
      ...slow.control,
      dialling: { ...slow.control?.dialling, dial: () => new Promise((resolve) => (placed = resolve)) },
    } as CallControl;
    await slow.start(ANNOUNCEMENT_MS + 200);
    await slow.hangUp('caller-hangup');
    expect(slow.hungUp).toEqual([]);
    placed({ carrierCallId: 'CA2' });
    await slow.settle();
    expect(slow.hungUp).toEqual(['CA2']);
  });

  it.each([
    ['again while the carrier cannot be reached', new CarrierControlError('no', { retryable: true }), ['CA2', 'CA2']],
    ['once where the carrier refuses', new CarrierControlError('no', { retryable: false }), ['CA2']],
  ])('asks for a hang-up that failed %s', async (_, error, asked) => {
    using bench = new ConsultBench();
    await bench.ringing();
    bench.control = {
      ...bench.control,
      hangUp: async (call) => {
        if (call === 'CA1') return;
        bench.hungUp.push(call);
        if (bench.hungUp.length === 1) throw error;
      },
    } as CallControl;
    await bench.hangUp('caller-hangup');
    await bench.wait(16_000);
    expect(bench.hungUp).toEqual(asked);
    await bench.legs.settled();
  });

  it('looks for a call whose order got no answer, and hangs it up when the caller is gone', async () => {
    using bench = new ConsultBench();
    bench.dialFails = new DialUnknownError('no answer');
    bench.found = 'placed';
    await bench.start(ANNOUNCEMENT_MS + 200);
    await bench.hangUp('caller-hangup');
    await bench.wait(5_100);
    expect(bench.hungUp).toEqual(['CA2']);
  });
});

describe('tells the dialog what came of it', () => {
  it.each([
    [
      { state: 'ended', outcome: 'busy', cause: '486' },
      { outcome: 'busy', cause: '486' },
    ],
    [{ state: 'ended', outcome: 'no-answer' }, { outcome: 'no-answer' }],
    [{ state: 'ended', outcome: 'rejected' }, { outcome: 'declined' }],
    [{ state: 'ended', outcome: 'failed' }, { outcome: 'failed' }],
  ] as const)('%o', async (progress, told) => {
    using bench = new ConsultBench();
    await bench.ringing();
    bench.report(progress);
    await bench.quiet(1_500);
    expect(bench.outcome).toEqual({ kind: 'transfer', to: AGENT, ...told });
    expect(bench.session.standing.botText).toBe('Nobody is free.');
    const sent = bench.attachment.sentSamples;
    await bench.quiet(2_000);
    // The ringing tone ends with the ringing.
    expect(bench.attachment.sentSamples).toBe(sent);
  });

  it('no-answer without any report, and hangs the agent up', async () => {
    using bench = new ConsultBench();
    await bench.ringing();
    await bench.quiet(46_000);
    expect(bench.outcome).toMatchObject({ outcome: 'no-answer' });
    expect(bench.hungUp).toEqual(['CA2']);
  });

  it.each([
    [
      'failed, with the carrier’s code',
      new CarrierControlError('no', { retryable: false, facts: { carrierCode: 21_211 } }),
      '21211',
    ],
  ])('%s', async (_, error, cause) => {
    using bench = new ConsultBench();
    bench.dialFails = error;
    await bench.start(ANNOUNCEMENT_MS + 1_500);
    expect(bench.outcome).toMatchObject({ outcome: 'failed', cause });
  });

  it('failed, without a dial, for a number that the bot file does not have', async () => {
    using bench = new ConsultBench(consults, { allow: ['+1555020*'] });
    await bench.start(ANNOUNCEMENT_MS + 1_500);
    expect(bench.orders).toEqual([]);
    expect(bench.outcome).toMatchObject({ outcome: 'failed', cause: 'not-allowed' });
  });

  it('failed, where the carrier has no account to dial with', async () => {
    using bench = new ConsultBench();
    bench.control = undefined;
    await bench.start(ANNOUNCEMENT_MS + 1_500);
    expect(bench.outcome).toMatchObject({ outcome: 'failed', cause: 'no-carrier-account' });
  });

  it('once the caller, who is speaking, has been answered', async () => {
    using bench = new ConsultBench();
    await bench.ringing();
    await bench.voice(400);
    bench.report({ state: 'ended', outcome: 'busy' });
    await bench.voice(400);
    expect(bench.outcome).toBeUndefined();
    await bench.quiet(660);
    bench.recognised(0, 'are you there');
    await bench.quiet(1_500);
    expect(bench.asked.map(({ input }) => input.kind)).toEqual(['start', 'spoken', 'transfer']);
  });

  it.each(['says nothing', 'fails'])('and says sorry where the dialog %s', async (what) => {
    using bench = new ConsultBench(async function* (turn) {
      if (turn.input.kind !== 'transfer') yield* consults(turn);
      else if (what === 'fails') throw new Error('HTTP 500');
    });
    await bench.ringing();
    bench.report({ state: 'ended', outcome: 'busy' });
    await bench.quiet(9_000);
    expect((await bench.session.ended).endReason).toBe('transfer-failed');
  });
});

describe('the agent', () => {
  it('hears the brief and how to take the call; the caller hears neither', async () => {
    using bench = new ConsultBench();
    await bench.briefed();
    expect(bench.said).toContain('A caller about rent.');
    expect(bench.said).toContain('Press 1 to take the call, or 2 to decline.');
    expect(bench.session.standing.transfer).toMatchObject({ to: AGENT, state: 'briefing' });
    const sentences = bench.session.standing.botText;
    expect(sentences).not.toContain('rent');
    expect(Math.max(...bench.agent.levels)).toBeGreaterThan(-20);
  });

  it.each([
    ['presses 2', (bench: ConsultBench) => bench.agent.emit({ type: 'digit', digit: '2' }), 'declined'],
    ['hangs up', (bench: ConsultBench) => bench.agent.emit({ type: 'stopped', reason: 'gone' }), 'declined'],
    ['is lost', (bench: ConsultBench) => bench.agent.emit({ type: 'closed', code: 1006, reason: 'gone' }), 'dropped'],
  ] as const)('who %s is told to the dialog', async (_, act, outcome) => {
    using bench = new ConsultBench();
    await bench.briefed();
    act(bench);
    await bench.quiet(1_000);
    expect(bench.outcome).toMatchObject({ outcome });
    expect(bench.hungUp).toEqual(['CA2']);
    expect(bench.agent.closedBecause).toBe('the leg is over');
  });

  it('who presses nothing is asked again, and then has not answered', async () => {
    using bench = new ConsultBench();
    await bench.briefed();
    await bench.quiet(21_000);
    expect(bench.said.filter((text) => text.startsWith('Press 1')).length).toBeGreaterThan(2);
    for (let ms = 0; ms < 5_000 && bench.outcome === undefined; ms += 20) await bench.quiet(20);
    expect(bench.outcome).toMatchObject({ outcome: 'no-answer', cause: 'no-key' });
  });

  it('is a machine by its long greeting: voicemail, and nothing was said to it', async () => {
    using bench = new ConsultBench();
    await bench.ringing();
    bench.legs.attach(bench.legId, bench.agent);
    for (let ms = 0; ms < 3_600; ms += 20) await bench.both(true);
    bench.legs.reported(bench.legId, { carrier: 'bench', carrierCallId: 'CA2', witness: 'machine' });
    for (let ms = 0; ms < 2_000; ms += 20) await bench.both(true);
    await bench.quiet(1_000);
    expect(bench.outcome).toMatchObject({ outcome: 'voicemail' });
    expect(bench.said).not.toContain('A caller about rent.');
  });

  it('takes the call by another key where the bot file says so', async () => {
    using bench = new ConsultBench(consults, { acceptKey: '5', declineKey: '#' });
    await bench.briefed();
    expect(bench.said).toContain('Press 5 to take the call, or # to decline.');
    bench.agent.emit({ type: 'digit', digit: '1' });
    await bench.quiet(100);
    expect(bench.session.standing.transfer?.state).toBe('briefing');
    bench.agent.emit({ type: 'digit', digit: '5' });
    await bench.quiet(100);
    expect(bench.outcome).toMatchObject({ outcome: 'answered' });
  });
});

describe('connected by the carrier', () => {
  it('joins the two calls, tells the dialog, and ends as transferred without hanging anybody up', async () => {
    using bench = new ConsultBench();
    bench.control = {
      ...bench.control,
      join: async (...calls: unknown[]) => void bench.joins.push(calls.slice(0, 2) as string[]),
    } as CallControl;
    await bench.accepted();
    expect(bench.joins).toEqual([['CA1', 'CA2']]);
    expect(bench.outcome).toEqual({ kind: 'transfer', outcome: 'answered', to: AGENT });
    bench.agent.emit({ type: 'stopped', reason: 'redirected' });
    bench.attachment.emit({ type: 'stopped', reason: 'redirected' });
    const record = await bench.session.ended;
    expect(record.endReason).toBe('transferred');
    expect(record.transfers).toMatchObject([
      { to: AGENT, kind: 'warm', legId: bench.legId, carrierCallId: 'CA2', connectedBy: 'carrier', outcome: 'answered' },
    ]);
    expect(record.notes).toEqual(['transfer answered']);
    expect(bench.hungUp).toEqual([]);
  });

  it('keeps the agent whose streams end before the carrier says that it has joined them', async () => {
    using bench = new ConsultBench();
    let joined = (): void => undefined;
    bench.control = { ...bench.control, join: () => new Promise<void>((resolve) => (joined = resolve)) } as CallControl;
    await bench.accepted();
    bench.agent.emit({ type: 'stopped', reason: 'redirected' });
    bench.attachment.emit({ type: 'stopped', reason: 'redirected' });
    await bench.settle();
    joined();
    expect((await bench.session.ended).transfers).toMatchObject([{ connectedBy: 'carrier', outcome: 'answered' }]);
    expect(bench.hungUp).toEqual([]);
  });

  it('passes the sound on itself where the carrier would not', async () => {
    using bench = new ConsultBench();
    bench.control = { ...bench.control, join: () => Promise.reject(new Error('HTTP 500')) } as CallControl;
    await bench.accepted();
    expect(bench.session.standing.transfer).toMatchObject({ to: AGENT, state: 'connected' });
    const before = bench.agent.sentSamples;
    await bench.voice(1_000);
    expect(bench.agent.sentSamples - before).toBeGreaterThan(7_000);
  });

  it.each([
    [100, 'goes back to the bot when the stream of the agent ends right after a refused join'],
    [6_000, 'ends the call when the agent hangs up long after a refused join'],
  ])('%i ms: %s', async (afterMs) => {
    using bench = new ConsultBench();
    bench.control = { ...bench.control, join: () => Promise.reject(new Error('HTTP 404')) } as CallControl;
    await bench.accepted();
    await bench.quiet(afterMs);
    bench.agent.emit({ type: 'stopped', reason: 'redirected' });
    await bench.quiet(2_000);
    if (afterMs === 100) {
      expect(bench.outcome).toMatchObject({ outcome: 'dropped' });
      expect(bench.session.standing.botText).toBe('Nobody is free.');
      expect(bench.attachment.closedBecause).toBeUndefined();
    } else expect(bench.attachment.closedBecause).toBe('transferred');
    expect(bench.hungUp).toEqual(['CA2']);
  });

  it('tells the dialog that the call was dropped when the carrier would not and the agent is gone', async () => {
    using bench = new ConsultBench();
    let refuse: (error: Error) => void = () => undefined;
    const joining = new Promise<void>((_resolve, reject) => (refuse = reject));
    bench.control = { ...bench.control, join: () => joining } as CallControl;
    await bench.accepted();
    bench.agent.emit({ type: 'stopped', reason: 'redirected' });
    refuse(new Error('HTTP 500'));
    await bench.quiet(1_000);
    expect(bench.outcome).toMatchObject({ outcome: 'dropped' });
    expect(bench.session.standing.botText).toBe('Nobody is free.');
  });
});

describe('connected by the gateway', () => {
  it('passes the sound of each side to the other, at most a quarter of a second late, and records both', async () => {
    using bench = new ConsultBench();
    await bench.accepted();
    const agentHeard = bench.agent.heard.length;
    const callerHeard = bench.attachment.heard.length;
    for (let ms = 0; ms < 2_000; ms += 20) {
      bench.agent.emit({ type: 'audio', pcm: sine(500, 20, 8_000, 0.5), timestampMs: undefined });
      await bench.voice(20);
    }
    expect(rmsLevelDb(bench.agent.heard.subarray(agentHeard + 1_600))).toBeGreaterThan(-12);
    expect(rmsLevelDb(bench.attachment.heard.subarray(callerHeard + 1_600))).toBeCloseTo(-9, 0);
    expect(bench.agent.heard.length / 8 - bench.clock.nowMs()).toBeLessThan(260);
    expect(bench.agent.gaps).toBeLessThan(3);
    bench.attachment.emit({ type: 'stopped', reason: 'hung up' });
    const record = await bench.session.ended;
    expect(record.endReason).toBe('transferred');
    expect(record.transfers).toMatchObject([{ connectedBy: 'gateway', outcome: 'answered' }]);
    expect(bench.hungUp).toEqual(['CA2']);
    expect(bench.aborted).toContain(0);
  });

  it('bounds what waits at a carrier when frames come in a heap', async () => {
    using bench = new ConsultBench();
    await bench.accepted();
    for (let frame = 0; frame < 200; frame += 1)
      bench.agent.emit({ type: 'audio', pcm: sine(500, 20, 8_000, 0.5), timestampMs: undefined });
    expect(bench.attachment.heard.length / 8 - bench.clock.nowMs()).toBeLessThan(330);
  });

  it('ends the call when the agent hangs up', async () => {
    using bench = new ConsultBench();
    await bench.accepted();
    bench.agent.emit({ type: 'stopped', reason: 'hung up' });
    expect((await bench.session.ended).endReason).toBe('transferred');
    expect(bench.attachment.closedBecause).toBe('transferred');
  });

  it('goes back to the bot when the line of the agent is lost', async () => {
    using bench = new ConsultBench();
    await bench.accepted();
    await bench.voice(500);
    bench.agent.emit({ type: 'closed', code: 1006, reason: 'gone' });
    await bench.quiet(2_000);
    expect(bench.outcome).toMatchObject({ outcome: 'dropped' });
    expect(bench.session.standing.botText).toBe('Nobody is free.');
    expect(bench.hungUp).toEqual(['CA2']);
    await bench.says(0, 'then call me later', 200, 600);
    expect(bench.asked.at(-1)?.input).toMatchObject({ text: 'then call me later' });
  });

  it('ends at the longest duration of the bot', async () => {
    using bench = new ConsultBench();
    await bench.accepted();
    await bench.wait(3_600_000 / 400);
    expect(bench.attachment.closedBecause).toBeUndefined();
  });
});
