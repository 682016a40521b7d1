import { VoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { answered, stepAnswer } from '../../src/call/answering/classifier.ts';
import { FrameSounds } from '../../src/call/answering/frame-sound.ts';
import { greetingIsDue } from '../../src/call/answering/answer-plan.ts';
import type { AnsweredBy } from '../../src/config/answered-by.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import type { Opening } from './openings.ts';

export interface Judged {
  readonly opening: Opening;
  /** Opinions by time since the answer. */
  readonly opinions: readonly { readonly by: AnsweredBy; readonly atMs: number; readonly confidence: number }[];
  /** When the bot would have begun to greet. */
  readonly greetMs: number | undefined;
}

interface Heard {
  readonly atMs: number;
  readonly type: 'partial' | 'final';
  readonly seg: number;
  readonly text: string;
}

const FRAME = 160;
const WORD_ERROR = 0.08;
/** As a bot has it that says nothing of it. */
const TIMES = { decideWithinMs: 2_300, speakFirstMs: 2_000 };

/** Has the classifier listen to an opening. The bot says nothing. @param withWords whether a recogniser helps it */
export function judge(opening: Opening, withWords: boolean, seed: number): Judged {
  const detector = new VoiceActivity();
  const sounds = new FrameSounds();
  const words = withWords ? recognised(opening, seededRandom(seed)) : [];
  let state = answered();
  let greetMs: number | undefined;
  const opinions: { by: AnsweredBy; atMs: number; confidence: number }[] = [];
  for (let at = 0; at + FRAME <= opening.pcm.length; at += FRAME) {
    const atMs = (at + FRAME) / 8;
    const frame = opening.pcm.subarray(at, at + FRAME);
    const { voiced, speechLike } = detector.process(frame);
    state = stepAnswer(state, { type: 'frame', frame: { ...sounds.measure(frame), atMs, voiced, speechLike } });
    for (; words[0] !== undefined && words[0].atMs <= atMs; words.shift()) state = stepAnswer(state, words[0]);
    if (state.opinion !== undefined && state.opinion !== opinions.at(-1)) opinions.push(state.opinion);
    if (greetMs === undefined && greetingIsDue(state, TIMES)) greetMs = atMs;
  }
  return { opening, opinions, greetMs };
}

/** What a recogniser would tell of it: each word some time after it was said, some words wrong, and a final after each pause. */
function recognised({ said }: Opening, random: () => number): Heard[] {
  const heard: Heard[] = [];
  for (const [seg, { text, fromMs, toMs }] of said.entries()) {
    const words = text.split(/\s+/u);
    const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
    let [letter, so] = [0, ''];
    for (const word of words) {
      letter += word.length + 1;
      const wrong = random() < WORD_ERROR;
      if (wrong && random() < 0.5) continue;
      so = `${so} ${wrong ? `${word.slice(0, 1)}a` : word}`.trim();
      const atMs = fromMs + ((toMs - fromMs) * letter) / letters + 250 + 250 * random();
      heard.push({ type: 'partial', atMs, seg, text: so });
    }
    heard.push({ type: 'final', atMs: toMs + 600 + 200 * random(), seg, text: so });
  }
  return heard.sort((a, b) => a.atMs - b.atMs);
}

/** When the answering side was first heard, in ms after the answer; undefined for nobody. */
export function firstSoundMs({ said, by }: Opening): number | undefined {
  return said[0]?.fromMs ?? (by === 'hold' || by === 'fax' ? 700 : undefined);
}

/** The opinion so long after the answer. */
export function opinionAt({ opinions }: Judged, atMs: number): AnsweredBy | undefined {
  return opinions.findLast((opinion) => opinion.atMs <= atMs)?.by;
}
