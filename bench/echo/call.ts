import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import type { VoiceDetector } from '../../src/call/inbound/inbound-audio.ts';
import { EchoGuard } from '../../src/call/inbound/echo/echo-guard.ts';
import { DEFAULT_TURN_SETTINGS } from '../../src/call/turn/turn-settings.ts';
import { initialTurn } from '../../src/call/turn/turn-state.ts';
import { stepTurn } from '../../src/call/turn/turn.ts';
import type { TurnEvent, TurnState } from '../../src/call/turn/turn-state.ts';
import { echoOf, type EchoPath } from './path.ts';
import type { Speech } from './speech.ts';

const FRAME = 160;
const FRAME_MS = 20;
const PER_MS = 8;
const SENTENCES = 8;
/** How far ahead of the carrier's playing audio is sent. */
const LEAD_MS = 400;
/** A carrier starts a sentence up to this much later than the gateway thinks, anew for each one. */
const START_JITTER_MS = 20;
const LINE_NOISE = 18;

export interface CallPlan {
  /** Undefined for a line without echo. */
  readonly path: ((random: () => number, callMs: number) => EchoPath) | undefined;
  /** The caller's level against −20 dBFS, given the echo's; undefined for a caller who only listens. */
  readonly callerDb: ((random: () => number, echoDb: number) => number) | undefined;
}

export interface SentenceOutcome {
  /** First of the call: nothing was known of the line. */
  readonly first: boolean;
  readonly interrupted: boolean;
  /** A contest was held or lost before any caller spoke. */
  paused: boolean;
  /** From the caller's first sound; undefined without a caller. */
  clearMs: number | undefined;
  holdMs: number | undefined;
  /** The echo's end was taken for a caller's turn. */
  falseTurn: boolean;
}

interface Planned {
  readonly pcm: Int16Array;
  readonly startMs: number;
  readonly playedAtMs: number;
  readonly callerAtMs: number | undefined;
}

/** Runs one call frame by frame through the detector, the guard and the turn machine, faster than it would take. */
export function runCall(
  plan: CallPlan,
  speech: Speech,
  random: () => number,
  detector: VoiceDetector,
): readonly SentenceOutcome[] {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const path = plan.path?.(random, SENTENCES * 6_000);
  const delayMs = path?.delayMs ?? 0;
  const sentences: Planned[] = [];
  let atMs = 1_500;
  for (let index = 0; index < SENTENCES; index += 1) {
    const pcm = decodeMulaw(encodeMulaw(pick(speech.bot)));
    const lengthMs = pcm.length / PER_MS;
    const callerAtMs =
      plan.callerDb === undefined || index === 0 ? undefined : between(atMs + delayMs + 100, atMs + lengthMs - 600, random);
    sentences.push({ pcm, startMs: atMs, playedAtMs: atMs + random() * START_JITTER_MS, callerAtMs });
    atMs += lengthMs + 1_400 + random() * 1_000;
  }
  const length = Math.ceil((atMs + 1_000) * PER_MS);
  const played = new Int16Array(length);
  for (const { pcm, playedAtMs } of sentences) played.set(pcm, Math.round(playedAtMs * PER_MS));
  const line = path === undefined ? new Float64Array(length) : echoOf(played, path, random);
  const spokenAt = sentences.map(({ callerAtMs }) => callerAtMs);
  const gain = plan.callerDb === undefined ? 0 : 10 ** (plan.callerDb(random, path?.gainDb ?? 0) / 20);
  for (const onsetMs of spokenAt) {
    if (onsetMs === undefined) continue;
    const voice = pick(speech.caller);
    const from = Math.round(onsetMs * PER_MS);
    for (let index = 0; index < Math.min(voice.length, 12_000) && from + index < length; index += 1)
      line[from + index]! += gain * voice[index]!;
  }
  const noisy = Int16Array.from(line, (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample + (random() + random() + random() - 1.5) * LINE_NOISE))),
  );
  return listen(decodeMulaw(encodeMulaw(noisy)), sentences, spokenAt, detector);
}

function listen(
  line: Int16Array,
  sentences: readonly Planned[],
  spokenAt: readonly (number | undefined)[],
  detector: VoiceDetector,
): readonly SentenceOutcome[] {
  const guard = new EchoGuard();
  const outcomes: SentenceOutcome[] = [];
  let sent = 0;
  let sentMs = 0;
  let current = -1;
  let state: TurnState = initialTurn();
  let seen = newOutcome(true);
  const step = (event: TurnEvent): void => {
    const result = stepTurn(DEFAULT_TURN_SETTINGS, state, event);
    state = result.state;
    const onsetMs = spokenAt[current];
    for (const effect of result.effects) {
      const nowMs = 'atMs' in effect ? effect.atMs : event.type === 'frame' ? event.frame.atMs : 0;
      const before = onsetMs === undefined || nowMs < onsetMs;
      if ((effect.type === 'hold' || effect.type === 'clear') && before) seen.paused = true;
      if (effect.type === 'hold' && !before) seen.holdMs ??= nowMs - onsetMs;
      if (effect.type === 'clear' && !before) seen.clearMs ??= nowMs - onsetMs;
    }
  };
  for (let at = 0; at + FRAME <= line.length; at += FRAME) {
    const nowMs = (at + FRAME) / PER_MS;
    while (sentences[sent] !== undefined && sentences[sent]!.startMs + sentMs <= nowMs + LEAD_MS) {
      const { pcm, startMs } = sentences[sent]!;
      const part = pcm.subarray(sentMs * PER_MS, (sentMs + 100) * PER_MS);
      guard.sent(part, startMs + sentMs, 0);
      sentMs += 100;
      if (sentMs * PER_MS < pcm.length) continue;
      sent += 1;
      sentMs = 0;
    }
    const next = sentences[current + 1];
    if (next !== undefined && nowMs >= next.startMs) {
      if (current >= 0) outcomes.push(seen);
      current += 1;
      seen = newOutcome(current === 0, spokenAt[current] !== undefined);
      const { voice } = state;
      state = { ...initialTurn(), voice };
      step({ type: 'call-started', atMs: nowMs });
      step({ type: 'bot-started', atMs: nowMs, policy: 'always' });
    }
    const frame = line.subarray(at, at + FRAME);
    const { voiced, speechLike } = detector.process(frame);
    guard.arrived(FRAME, at / PER_MS, nowMs);
    const explained = guard.explains(frame, voiced);
    step({ type: 'frame', frame: { atMs: nowMs, voiced: voiced && !explained, speechLike } });
    const playing = sentences[current];
    if (playing === undefined) continue;
    const endMs = playing.startMs + playing.pcm.length / PER_MS;
    if (nowMs >= endMs && nowMs < endMs + FRAME_MS) step({ type: 'bot-finished', atMs: nowMs });
    const silent = spokenAt[current] === undefined && !seen.paused;
    if (silent && nowMs > endMs && state.phase.name === 'caller-speaking') seen.falseTurn = true;
  }
  outcomes.push(seen);
  return outcomes;
}

/** Where the echo is heard while the bot still has the floor; for a short sentence, shortly before it ends. */
function between(fromMs: number, untilMs: number, random: () => number): number {
  return untilMs - random() * Math.max(0, untilMs - fromMs);
}

function newOutcome(first: boolean, interrupted = false): SentenceOutcome {
  return { first, paused: false, clearMs: undefined, holdMs: undefined, interrupted, falseTurn: false };
}
