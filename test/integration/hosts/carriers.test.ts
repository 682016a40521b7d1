import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { parseWav } from '../../../src/audio/wav.ts';
import type { CallRecord } from '../../../src/call/log/call-record.ts';
import type { CallSession } from '../../../src/call/session.ts';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { carriers } from '../../../src/carriers/registry.ts';
import { silentWithinMs } from '../../../src/cli/demo/report.ts';
import { type CallerStep, ScriptedCaller, type StepReport } from '../../../src/sim/caller/caller.ts';
import { simulatedCarriers } from '../../../src/sim/carriers.ts';
import type { LineOptions } from '../../../src/sim/carrier-line.ts';
import { CallerEar } from '../../../src/sim/caller/ear.ts';
import type { SimulatedCarrierCall } from '../../../src/sim/simulated-carrier.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { startCarrierBench } from './carrier-bench.ts';
import { eventually } from '../../support/eventually.ts';
import { purest, withoutHoles } from './measured-tone.ts';
import { largestStep } from '../../support/largest-step.ts';
import { thorough } from '../../support/thorough.ts';
import { shared } from '../../support/shared.ts';

/** Answers words of the tone language, and ends with `charlie`. */
const BOT = `
export async function* respond({ input }) {
  if (input.kind === 'start') yield { type: 'say', text: 'Please say a word.' };
  else if (input.kind === 'keyed') yield { type: 'say', text: 'You pressed ' + input.digits + '.' };
  else if (input.text === 'alpha bravo') {
    yield { type: 'say', text: 'Pressing.' };
    yield { type: 'digits', digits: '1w2' };
  } else if (input.text === 'bravo alpha') {
    yield { type: 'say', text: 'Connecting.' };
    yield { type: 'transfer', to: '+15550100199' };
  } else if (input.text === 'charlie') {
    yield { type: 'say', text: 'Goodbye then.' };
    yield { type: 'hangup', reason: 'said-charlie' };
  } else if (input.text === 'bravo bravo') yield { type: 'say', text: 'I see.' };
  else yield { type: 'say', text: 'You said ' + input.text + ', and that is a very fine word to say on a telephone line like this one.' };
}
`;
const GREETING = 'Please say a word.';

const world = shared(() => startCarrierBench(BOT));

/** Without the silence before the first word, so that an interruption is timed from its first sound. */
const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);
const say = (...words: ToneWord[]): CallerStep => ({ kind: 'say', text: words.join(' '), pcm: speech(...words) });

interface LiveCall {
  readonly call: SimulatedCarrierCall;
  readonly session: CallSession;
  readonly run: (...steps: readonly CallerStep[]) => Promise<readonly StepReport[]>;
}

async function place(name: string, stream: LineOptions = {}): Promise<LiveCall> {
  const { bench } = world;
  const call = await world.place(name, stream);
  const { line, carrierCallId } = call;
  await eventually('the call', () =>
    bench.gateway.calls.calls.some((session) => session.identity.inbound.carrierCallId === carrierCallId),
  );
  return { call, session: bench.sessionOf(call), run: (...steps) => new ScriptedCaller(line, 25_000).run(steps) };
}

/** Spells of sound that the caller heard, in ms of the stream. */
function phrases({ line }: SimulatedCarrierCall): readonly { readonly fromMs: number; readonly toMs: number }[] {
  const ear = new CallerEar();
  ear.listen(line.buffer.heard);
  return ear.phrases.map(({ fromMs, toMs = ear.nowMs }) => ({ fromMs, toMs }));
}

/** The messages of a carrier that does not say what it has played. */
function withoutMarks(message: string | Uint8Array): readonly (string | Uint8Array)[] {
  if (typeof message !== 'string') return [message];
  // Genesys counts its messages.
  if (message.includes('playback_completed')) return [message.replace('playback_completed', 'playback_started')];
  return /"mark"|playedStream|websocket:notify|MARK_PROCESSED/iu.test(message) ? [] : [message];
}

interface Conversation {
  readonly call: SimulatedCarrierCall;
  readonly record: CallRecord;
  readonly interruption: StepReport;
}

async function converse(name: string): Promise<Conversation> {
  const { call, session, run } = await place(name);
  const reports = await run(
    say('alpha'),
    { kind: 'interrupt', text: 'bravo', pcm: speech('bravo', 'bravo'), afterMs: 1_000 },
    ...(hearsKeys(name) ? [{ kind: 'press', digits: '7' } as const] : []),
    say('charlie'),
    { kind: 'wait-for-end' },
  );
  const record = await session.ended;
  await call.ended;
  const interruption = reports.find(({ kind }) => kind === 'interrupt');
  if (interruption === undefined) throw new Error('the caller interrupted nothing');
  return { call, record, interruption };
}

const hearsKeys = (name: string): boolean => simulatedCarriers.find((carrier) => carrier.name === name)?.hearsKeys ?? true;
const simulatedRegistry = carriers.filter(({ name }) => simulatedCarriers.some((simulated) => simulated.name === name));

// Calls take their time in silence and speech: they share it.
describe.concurrent.each(simulatedRegistry)('a call through $title', (carrier: Carrier) => {
  const { name, capabilities, offers } = carrier;

  it('is a conversation with barge-in and keys, heard without a hole, and ends when the last word was heard', async () => {
    const { call, record, interruption } = await converse(name);
    const { line } = call;
    expect(line.complaints).toEqual([]);
    const keyed = hearsKeys(name) ? ['7'] : [];
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo bravo', ...keyed, 'charlie']);
    expect(record).toMatchObject({ carrier: name, endReason: 'said-charlie', digits: keyed.join('') });

    // The bot stopped in time, and the ledger says how much of it was heard, by marks or by the clock.
    const { atMs, botSilentMs = Number.NaN } = interruption;
    expect(botSilentMs).toBeLessThanOrEqual(silentWithinMs(capabilities, line.formats));
    const answer = record.turns[1];
    expect(answer).toMatchObject({ interrupted: true });
    expect(answer?.botText.startsWith(answer.botHeardText.replace(/ ?[\w,]*—$/u, ''))).toBe(true);
    const cut = record.sentences.find(({ turnIndex }) => turnIndex === 1);
    const began = phrases(call)
      .filter(({ fromMs }) => fromMs < atMs)
      .at(-1);
    const heardMs = atMs + botSilentMs - (began?.fromMs ?? Number.NaN);
    // Sentences begin with a tenth of a second of silence.
    expect(Math.abs((cut?.heard.likelyMs ?? Number.NaN) - 100 - heardMs)).toBeLessThan(60);
    if (capabilities.marks === 'none') expect(cut?.heard.sureMs).toBe(0);
    else expect(cut?.heard.sureMs).toBeLessThanOrEqual(heardMs + 160);
    expect(record.playout.latenessP95Ms === undefined).toBe(capabilities.marks === 'none');

    // What the caller heard: the voice of the platform whole, at its level, and nothing else.
    // A busy machine may be one frame late for a carrier that has little ahead.
    const bearableMs = capabilities.pacing === 'realtime' ? 20 : 0;
    expect(line.playout.underruns.filter(({ durationMs }) => durationMs > bearableMs)).toEqual([]);
    const [greeting] = phrases(call);
    expect(Math.abs((greeting?.toMs ?? 0) - (greeting?.fromMs ?? 0) - 50 * GREETING.length)).toBeLessThanOrEqual(40);
    const goodbye = phrases(call).at(-1);
    expect((goodbye?.toMs ?? 0) - (goodbye?.fromMs ?? 0)).toBeGreaterThan(50 * 'Goodbye then.'.length - 60);
    const { rateHz } = line.formats.to;
    const ofGreeting = line.playout.heard.subarray(
      ((greeting?.fromMs ?? 0) * rateHz) / 1000,
      ((greeting?.toMs ?? 0) * rateHz) / 1000,
    );
    const heard = purest(ofGreeting, 440, rateHz);
    expect(heard.levelDb).toBeGreaterThan(-25);
    expect(heard.restDb).toBeLessThan(-30);
    const steepest = Math.sqrt(2) * 10 ** (heard.levelDb / 20) * 32_768 * ((2 * Math.PI * 440) / rateHz);
    const greetingAt = greeting?.fromMs ?? 0;
    const holes = line.playout.underruns.map((hole) => ({ ...hole, atMs: hole.atMs - greetingAt }));
    const joined = withoutHoles(ofGreeting, holes, rateHz);
    const edge = (40 * rateHz) / 1000;
    expect(largestStep(joined.subarray(edge, joined.length - edge))).toBeLessThan(1.5 * steepest);

    // What the gateway heard: the caller, at the level they spoke with.
    const { samples, rateHz: recordedHz } = parseWav(readFileSync(record.recordingPath ?? ''));
    const [left = new Int16Array()] = samples;
    const kept = purest(left, 400, recordedHz);
    expect(Math.abs(kept.levelDb - rmsLevelDb(speech('alpha').subarray(0, 2_400)))).toBeLessThan(0.3);
    expect(kept.restDb).toBeLessThan(-30);
  });

  it('has keys pressed at its other end, and is over when the caller hangs up', async () => {
    const { call, session, run } = await place(name);
    await run(say('alpha', 'bravo'));
    if (['message', 'rest', 'reattach'].includes(capabilities.dtmfOut))
      await eventually('the keys', () => call.digits.join('').replaceAll(/[^\d]/gu, '') === '12');
    const answered = (): boolean =>
      world.bench.news.some((news) => news.type === 'reply' && news.callId === session.id && news.turn === 1);
    await eventually('the answer, and the call to go on', () => answered() && session.attached);
    await call.hangUp();
    const record = await session.ended;
    expect(record.endReason).toBe('caller-hangup');
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha bravo']);
    expect(call.line.complaints).toEqual([]);
  });

  // Ten seconds each: marks as JSON, as text, and as carriers return them that do so when they are idle.
  const withoutMark = capabilities.marks === 'native' && thorough(['twilio', 'asterisk', 'genesys'].includes(name), true);
  it.runIf(withoutMark)('goes on by the clock, and says so, where no mark comes back', async () => {
    const { call, session, run } = await place(name, { tamper: withoutMarks });
    await run(say('alpha'), say('charlie'), { kind: 'wait-for-end' });
    const record = await session.ended;
    await call.ended;
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'charlie']);
    expect(record).toMatchObject({ endReason: 'said-charlie', playout: { heardEstimated: 1, marksReturned: 0 } });
    expect(record.sentences.map(({ heard }) => heard.sureMs)).toEqual(record.sentences.map(() => 0));
    expect(record.turns.at(-1)?.botHeardText).toBe('Goodbye then.');
    // The last words are not followed by a wait for their mark.
    const endMs = phrases(call).at(-1)?.toMs ?? Number.NaN;
    expect(call.line.nowMs - endMs).toBeLessThan(1_300);
  });

  it.runIf(capabilities.comesBack === true)('goes on over another stream when its socket breaks', async () => {
    const { call, session, run } = await place(name);
    const first = call.line;
    await run(say('alpha'));
    first.sever();
    await eventually('another stream', () => call.line !== first && session.attached);
    await new ScriptedCaller(call.line, 25_000).run([say('charlie'), { kind: 'wait-for-end' }]);
    const record = await session.ended;
    await call.ended;
    expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'charlie']);
    expect(record).toMatchObject({ carrier: name, endReason: 'said-charlie' });
    expect(record.attachments).toHaveLength(2);
    expect(call.line.complaints).toEqual([]);
  });

  it.runIf(offers.transfer !== 'none')('is passed on to somebody else', async () => {
    const { call, session, run } = await place(name);
    await run(say('bravo', 'alpha'));
    await eventually('the transfer', () => call.dialled !== undefined);
    expect(call.dialled?.replace('+', '')).toContain('15550100199');
    expect((await session.ended).endReason).toBe('transferred');
    expect(call.line.complaints).toEqual([]);
  });
});

it('goes through every carrier of the registry, in its order', () => {
  expect(simulatedCarriers.map(({ name }) => name)).toEqual(carriers.map(({ name }) => name));
});
