// One caller's turns through the voice detector and the turn machine, on a clock of its own.
import { joinSamples } from '../../src/audio/samples.ts';
import { noise } from '../../src/audio/tone.ts';
import { VoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import type { VoiceFrame } from '../../src/call/turn/evidence.ts';
import type { TurnSettings } from '../../src/call/turn/turn-settings.ts';
import { initialTurn, type TurnEvent } from '../../src/call/turn/turn-state.ts';
import { stepTurn } from '../../src/call/turn/turn.ts';
import type { SpokenTurn } from './turns.ts';

const FRAME_MS = 20;
const SAMPLES_PER_MS = 8;
/** Between two turns: the bot answers meanwhile. */
const BETWEEN_MS = 3_500;
const LINE_NOISE = 0.001;
/** A word is known this long after it was said, a final this long after its commit. */
const KNOWN_AFTER_MS = 250;
const FINAL_AFTER_MS = 50;
/** The bot's first sound, after the commit: a final, a dialog that answers in 150 ms, and a synthesizer. */
const ANSWER_AFTER_MS = FINAL_AFTER_MS + 150 + 100;
/** The model's thread answers after this long, which one inference takes on a slow core. */
const MODEL_MS = 100;

/** A caller's turns on one line. */
export interface RecordedCall {
  readonly pcm: Int16Array;
  readonly frames: readonly VoiceFrame[];
  readonly turns: readonly { readonly turn: SpokenTurn; readonly startMs: number; readonly endMs: number }[];
}

export function recordCall(spoken: readonly SpokenTurn[], random: () => number): RecordedCall {
  const parts: Int16Array[] = [new Int16Array(1_000 * SAMPLES_PER_MS)];
  const turns: { turn: SpokenTurn; startMs: number; endMs: number }[] = [];
  let atMs = 1_000;
  for (const turn of spoken) {
    const endMs = atMs + turn.pcm.length / SAMPLES_PER_MS;
    turns.push({ turn, startMs: atMs, endMs });
    const rest = new Int16Array((BETWEEN_MS + FRAME_MS - (endMs % FRAME_MS)) * SAMPLES_PER_MS);
    parts.push(turn.pcm, rest);
    atMs = endMs + rest.length / SAMPLES_PER_MS;
  }
  const clean = joinSamples(parts);
  const room = noise(clean.length / SAMPLES_PER_MS, 8_000, LINE_NOISE, random);
  const pcm = clean.map((sample, index) => sample + (room[index] ?? 0));
  const detector = new VoiceActivity();
  const frames: VoiceFrame[] = [];
  for (let from = 0; from + 160 <= pcm.length; from += 160) {
    const { voiced, speechLike } = detector.process(pcm.subarray(from, from + 160));
    frames.push({ atMs: (from + 160) / SAMPLES_PER_MS, voiced, speechLike });
  }
  detector.close();
  return { pcm, frames, turns };
}

/** How one turn ended. */
export interface Ended {
  readonly turn: SpokenTurn;
  /** The turn was committed although words were to come. */
  readonly cut: boolean;
  /** The bot's answer began before the caller went on: what they said next interrupted it. Any other cut is taken back unheard. */
  readonly spokenOver: boolean;
  /** From the last sound to the commit, and to the question to the dialog; undefined of a turn that was cut off. */
  readonly waitMs: number | undefined;
  readonly askedMs: number | undefined;
}

/** Judges the sound of a turn up to a moment. @returns how likely it is over, 0 to 1 */
export type Judge = (pcm: Int16Array) => Promise<number>;

/**
 * Plays a call to the turn machine.
 * @param punctuated the recogniser ends all that it hears with a full stop, as many do
 */
export async function play(
  settings: TurnSettings,
  call: RecordedCall,
  punctuated: boolean,
  judge?: Judge,
): Promise<readonly Ended[]> {
  let state = initialTurn();
  const due: { atMs: number; event: () => TurnEvent }[] = [];
  const commits: number[] = [];
  const asks: number[] = [];
  let [seg, from, known] = [0, 0, 0];
  const words = call.turns.flatMap(({ turn, startMs }) =>
    turn.words.map(({ text, endMs }) => ({ text, endMs: startMs + endMs })),
  );
  const textTo = (to: number): string => {
    const text = words
      .slice(from, to)
      .map((word) => word.text)
      .join(' ');
    return punctuated && text !== '' ? `${text}.` : text;
  };
  const feed = async (event: TurnEvent, atMs: number): Promise<void> => {
    const step = stepTurn(settings, state, event);
    state = step.state;
    for (const effect of step.effects) {
      if (effect.type === 'ask-model' && judge !== undefined) {
        const begins = Math.max(0, effect.sinceMs - 200) * SAMPLES_PER_MS;
        const likelihood = await judge(call.pcm.subarray(begins, atMs * SAMPLES_PER_MS));
        const { lastVoicedMs } = effect;
        due.push({ atMs: atMs + MODEL_MS, event: () => ({ type: 'model-answered', lastVoicedMs, likelihood }) });
      } else if (effect.type === 'commit') {
        if (effect.reason !== 'doubtful' && effect.reason !== 'backchannel') commits.push(atMs);
        const said = words.findLastIndex(({ endMs }) => endMs <= atMs) + 1;
        const [text, mine] = [textTo(said), seg];
        [from, known, seg] = [Math.max(from, said), Math.max(known, said), seg + 1];
        due.push({
          atMs: atMs + FINAL_AFTER_MS,
          event: () => ({ type: 'final', atMs: atMs + FINAL_AFTER_MS, seg: mine, text, endOfUtterance: true }),
        });
      } else if (effect.type === 'ask') asks.push(atMs);
    }
  };
  await feed({ type: 'call-started', atMs: 0 }, 0);
  await feed({ type: 'bot-started', atMs: 0, policy: 'always' }, 0);
  await feed({ type: 'bot-finished', atMs: 0 }, 0);
  let answered = 0;
  for (const frame of call.frames) {
    const { atMs } = frame;
    for (const { event } of takeDue(due, atMs)) await feed(event(), atMs);
    const now = words.findLastIndex(({ endMs }) => endMs + KNOWN_AFTER_MS <= atMs) + 1;
    if (now > known) {
      known = now;
      await feed({ type: 'partial', atMs, seg, text: textTo(now) }, atMs);
    }
    await feed({ type: 'frame', frame }, atMs);
    // The bot answers, long after the turn's end, and is heard out.
    const over = call.turns[answered];
    if (over !== undefined && atMs >= over.endMs + BETWEEN_MS - 600) {
      answered += 1;
      if (state.phase.name !== 'thinking') continue;
      await feed({ type: 'bot-started', atMs, policy: 'always' }, atMs);
      await feed({ type: 'bot-finished', atMs }, atMs);
    }
  }
  return call.turns.map(({ turn, startMs, endMs }, index) => {
    const untilMs = call.turns[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
    const within = (all: readonly number[]): number | undefined => all.find((atMs) => atMs > startMs && atMs < untilMs);
    const committedMs = within(commits);
    const cut = committedMs !== undefined && committedMs < endMs;
    const asked = asks.find((atMs) => atMs > endMs && atMs < untilMs);
    const goesOnMs = call.frames.find(({ atMs, voiced }) => voiced && atMs > (committedMs ?? 0) + FRAME_MS)?.atMs ?? 0;
    return {
      turn,
      cut,
      spokenOver: cut && goesOnMs - committedMs >= ANSWER_AFTER_MS,
      waitMs: cut || committedMs === undefined ? undefined : committedMs - endMs,
      askedMs: cut || asked === undefined ? undefined : asked - endMs,
    };
  });
}

function takeDue<Item extends { readonly atMs: number }>(all: Item[], atMs: number): readonly Item[] {
  const ready = all.filter((item) => item.atMs <= atMs);
  for (const item of ready) all.splice(all.indexOf(item), 1);
  return ready;
}
