import { seededRandom } from '../../src/audio/tone.ts';
import type { VoiceDetector } from '../../src/call/inbound/inbound-audio.ts';
import { EchoGuard } from '../../src/call/inbound/echo/echo-guard.ts';
import { DEFAULT_TURN_SETTINGS } from '../../src/call/turn/turn-settings.ts';
import { initialTurn } from '../../src/call/turn/turn-state.ts';
import { stepTurn } from '../../src/call/turn/turn.ts';
import type { TurnEvent, TurnState } from '../../src/call/turn/turn-state.ts';
import { botSpeech } from '../conversation/bot-voice.ts';
import { SENTENCES } from '../conversation/bots/words.ts';
import type { Stimulus } from '../conversation/stimuli.ts';
import type { Placed, Scene } from './scene.ts';

/** What one sound did; times are from its first sample's frame on the wire, in ms. */
export interface Outcome {
  readonly stimulus: Stimulus;
  readonly holdMs: number | undefined;
  readonly clearMs: number | undefined;
  readonly holds: number;
  /** It was taken for a turn. */
  readonly ended: boolean;
  /** The longest silence at the ear that the sound made. */
  readonly silentMs: number;
}

const FRAME = 160;
const FRAME_MS = 20;
const PER_MS = 8;
/** A frame reaches the gateway so much later than it was written, at most: a timer's and a socket's share. */
const ARRIVES_WITHIN_MS = 1.5;
/** From the gateway's decision to the carrier's socket. */
const WIRE_MS = 1;
/** What the carrier has left to play when it is no longer fed. */
const LEAST_LEAD_MS = 300;
const MOST_LEAD_MS = 400;
/** From a word's last sample to its partial, and from a commit to its final. */
const PARTIAL_AFTER_MS = 200;
const FINAL_AFTER_MS = 120;

interface Trial {
  readonly placed: Placed;
  /** The frame that has the first sample. */
  readonly frame: number;
  wordsTold: number;
  said: string;
  holdMs: number | undefined;
  clearMs: number | undefined;
  holds: number;
  ended: boolean;
  silentMs: number;
  silentFromMs: number | undefined;
}

/** Runs one call through detector, echo guard and turn machine: the bot talks all the time, and again from each new sound on. */
export function runScene(scene: Scene, detector: VoiceDetector, seed: number): readonly Outcome[] {
  const random = seededRandom(seed);
  const guard = new EchoGuard();
  const bot = botSpeech(SENTENCES[seed % SENTENCES.length]!).pcm;
  const trials = scene.placed.map((placed): Trial => ({
    placed,
    frame: Math.floor(placed.atSample / FRAME),
    wordsTold: 0,
    said: '',
    holdMs: undefined,
    clearMs: undefined,
    holds: 0,
    ended: false,
    silentMs: 0,
    silentFromMs: undefined,
  }));
  let current = -1;
  let state = speaking(initialTurn());
  let segment = 0;
  let commits: number[] = [];
  let sentMs = 0;

  const step = (event: TurnEvent, nowMs: number): void => {
    const result = stepTurn(DEFAULT_TURN_SETTINGS, state, event);
    state = result.state;
    const trial = trials[current];
    for (const { type } of result.effects) {
      if (type === 'commit') commits.push(nowMs + FINAL_AFTER_MS);
      if (trial === undefined) continue;
      const sinceMs = nowMs - (trial.frame + 1) * FRAME_MS;
      if (type === 'hold') {
        trial.holds += 1;
        trial.holdMs ??= sinceMs;
        trial.silentFromMs ??= nowMs + LEAST_LEAD_MS + (MOST_LEAD_MS - LEAST_LEAD_MS) * random();
      } else if (type === 'clear') {
        trial.clearMs ??= sinceMs + WIRE_MS;
        trial.silentFromMs = Math.min(nowMs, trial.silentFromMs ?? nowMs);
      } else if (type === 'resume' || type === 'restore') {
        trial.silentMs = Math.max(trial.silentMs, nowMs - (trial.silentFromMs ?? nowMs));
        trial.silentFromMs = undefined;
      } else if (type === 'ask') trial.ended = true;
    }
  };

  for (let frame = 0; (frame + 1) * FRAME <= scene.pcm.length; frame += 1) {
    const dueMs = (frame + 1) * FRAME_MS;
    const nowMs = dueMs + ARRIVES_WITHIN_MS * random();
    for (; sentMs <= dueMs + MOST_LEAD_MS; sentMs += 100) {
      const from = (sentMs * PER_MS) % (bot.length - 100 * PER_MS);
      guard.sent(bot.subarray(from, from + 100 * PER_MS), sentMs, 0);
    }
    const next = trials[current + 1];
    if (next !== undefined && frame === next.frame) {
      current += 1;
      commits = [];
      state = speaking({ ...initialTurn(), voice: state.voice });
    }
    const pcm = scene.pcm.subarray(frame * FRAME, (frame + 1) * FRAME);
    const { voiced, speechLike } = detector.process(pcm);
    guard.arrived(FRAME, frame * FRAME_MS, nowMs);
    const echo = guard.explains(pcm, voiced);
    step({ type: 'frame', frame: { atMs: nowMs, voiced: voiced && !echo, speechLike } }, nowMs);
    const trial = trials[current];
    if (trial === undefined) continue;
    const { words } = trial.placed.stimulus;
    const heardMs = dueMs - trial.placed.atSample / PER_MS - PARTIAL_AFTER_MS;
    while (trial.wordsTold < words.length && words[trial.wordsTold]!.toMs <= heardMs) {
      trial.said = `${trial.said} ${words[trial.wordsTold]!.word}`.trim();
      trial.wordsTold += 1;
      step({ type: 'partial', atMs: nowMs, seg: segment, text: trial.said }, nowMs);
    }
    while (commits[0] !== undefined && commits[0] <= nowMs) {
      commits.shift();
      step({ type: 'final', atMs: nowMs, seg: segment, text: trial.said, endOfUtterance: true }, nowMs);
      segment += 1;
      trial.said = '';
    }
  }
  return trials.map(({ placed, holdMs, clearMs, holds, ended, silentMs, silentFromMs }) => ({
    stimulus: placed.stimulus,
    holdMs,
    clearMs,
    holds,
    ended,
    silentMs: silentFromMs === undefined ? silentMs : Infinity,
  }));
}

function speaking(state: TurnState): TurnState {
  return { ...state, phase: { name: 'bot-speaking', policy: 'always', contest: undefined } };
}
