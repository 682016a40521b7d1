import { plainWords } from './transcript.ts';
import { NO_VALUES, type ValueReader } from './value-reader.ts';

/** Every number of turn-taking: times in milliseconds on one monotonic clock, shares from 0 to 1. */
export interface TurnSettings {
  readonly voice: VoiceSettings;
  readonly endpointing: EndpointingSettings;
  readonly interruption: InterruptionSettings;
  readonly waiting: WaitingSettings;
  readonly line: LineSettings;
  readonly farewell: FarewellSettings;
  readonly secret: SecretSettings;
  readonly optOut: OptOutSettings;
  /** Silence from the caller, after the bot fell silent, that counts as no input. */
  readonly noInputMs: number;
  /** Silences in a row that the dialog is told of; after one more the call is given up. */
  readonly noInputAttempts: number;
  /** Pause between keys that completes a keyed answer. */
  readonly interDigitMs: number;
  /** How many times longer the next key is waited for while the value is incomplete. */
  readonly incompletePatience: number;
  /** Waiting for words, or for the dialog, longer than this is covered by a filler. */
  readonly settlingFillerMs: number;
  readonly thinkingFillerMs: number;
  /** A dialog that has said nothing for this long has failed this turn. */
  readonly thinkingLimitMs: number;
  /** How long a caller waits in silence for a sentence that is being made. */
  readonly stalledMs: number;
  /** Quiet, with words that stand still, after which the dialog is asked before the turn is over; undefined for never. */
  readonly askEarlyMs: number | undefined;
  /** Understands the values that dialogs ask for. */
  readonly reader: ValueReader;
}

/** What makes frames of the line a voice. */
export interface VoiceSettings {
  /** Quiet that separates two bursts of voice. */
  readonly burstGapMs: number;
  /** Voiced frames among the last four that make an onset. */
  readonly onsetFrames: number;
  /** Evidence after which a burst is the caller going on after a pause, and no knock in it. */
  readonly goingOnMs: number;
  /** Voice shorter than this without a word was no utterance: a click, a knock, a breath. */
  readonly blipMs: number;
  /** Quiet after which a blip is over. */
  readonly blipOverMs: number;
  /** A sound this short that the recogniser has no word for is not taken for an unclear answer. */
  readonly unclearMs: number;
}

/** When a caller's turn ends. */
export interface EndpointingSettings {
  /** Silence after the last voiced frame that ends the turn. */
  readonly endpointingMs: number;
  /** How much longer than that a caller who pauses long, or is in the middle of a sentence, is waited for at most. */
  readonly patienceMs: number;
  /** Share of the silence that is enough after words that end as a sentence does and stand still. */
  readonly sentenceShare: number;
  /** Words that have not changed for this long are taken for what was said, where they end as a sentence. */
  readonly stillMs: number;
  /** A turn longer than this is committed although the caller still speaks. */
  readonly maxTurnMs: number;
  /** Words that have not changed for this long end the turn although the line never falls silent (noise). */
  readonly stableWordsMs: number;
  /** From this many pauses on they tell of the caller, … */
  readonly tellingPauses: number;
  /** … who is waited for this many times longer than this percentile of them (a share). */
  readonly pauseMargin: number;
  readonly pausePercentile: number;
  /**
   * The frame that completes a silence may come this much early, or the last voiced one late, and completes it all the same:
   * else half of all turns would wait for the next one, 20 ms.
   */
  readonly frameEarlyMs: number;
  /** Shortest and longest wait for a final after the commit, before the partial is taken as provisional. */
  readonly settleFloorMs: number;
  readonly settleCapMs: number;
  /** The wait for a final, as a multiple of this percentile (a share) of this session's times from commit to final. */
  readonly settleMargin: number;
  readonly settlePercentile: number;
  /** With neither final nor partial after this long the turn counts as not understood. */
  readonly settleAbandonMs: number;
  /** Quiet after the last voiced frame before a final without an end mark counts as covering it. */
  readonly coveredMs: number;
  /** Words that have not changed for this long are asked about early, and so often in a turn. */
  readonly earlyStillMs: number;
  readonly mostEarly: number;
}

/**
 * Who keeps the floor when the caller makes a sound while the bot speaks. In two steps: a *hold* stops feeding the
 * carrier and costs nothing if it was a cough; a *clear* takes back what is queued and gives the caller the floor.
 */
export interface InterruptionSettings {
  /** Voiced time in the recent window that starts a contest (hold). */
  readonly holdAfterMs: number;
  /** Evidence of speech that decides the contest for the caller (clear). */
  readonly clearAfterMs: number;
  /** How much a frame counts that begins a sound and has no pitch at all, against one that has: an s, or the most of a cough. */
  readonly unpitchedWeight: number;
  /** Evidence that frames without pitch can make up together: nobody takes the floor by hissing. */
  readonly mostUnpitchedMs: number;
  /** Quiet inside a contest that decides it for the bot (resume). */
  readonly resumeAfterQuietMs: number;
  /** A sound without any pitch is no speech after this time: shorter than what the carrier plays on, so that it costs nothing. */
  readonly hissForMs: number;
  /** A contest never lasts longer; undecided, the bot goes on. */
  readonly decideWithinMs: number;
  /** How much longer than that a contest waits for a frame that decides it, where the carrier sends none. */
  readonly frameGraceMs: number;
  /** Time from the caller's first sound in which words may still turn what sound decided. */
  readonly reverseWithinMs: number;
  /** Quiet after a "mm-hm" that shows that nothing follows it. */
  readonly backchannelOverMs: number;
  /** An interruption with less evidence for speech than this, and not a word, may have been a cough or a "mm-hm", … */
  readonly doubtfulEvidenceMs: number;
  /** … and was one when it is quiet for so long, or has had no pitch for so long: the bot speaks on, until words come. */
  readonly doubtfulOverMs: number;
  readonly tonelessMs: number;
  /** An interruption this short without a word was none: the bot speaks on. */
  readonly meantMs: number;
  /** Words that stop the bot however they sound, in plain words. */
  readonly stopPhrases: readonly string[];
}

/** What is made of words by a caller who was asked to wait. */
export interface WaitingSettings {
  /** A partial of words that only wait may go on ("okay, Tuesday please") until it has not changed for so long. */
  readonly stillMs: number;
  /** So many words into a wait that have not changed for so long are what was said. */
  readonly meantWords: number;
  readonly meantStillMs: number;
}

/** When what is heard of the line is late. */
export interface LineSettings {
  /** A line of which nothing has come for so long after it was due is late, and no longer only uneven, … */
  readonly lateAfterMs: number;
  /** … and no longer late after this, but away: some carriers send nothing of silence. */
  readonly lateUntilMs: number;
}

/** When a bot that has said its goodbye hangs up. */
export interface FarewellSettings {
  /** Pause between the last mark and the end of the call. */
  readonly hangupAfterMarkMs: number;
  /** A room that never falls silent keeps no call open for longer than this after the goodbye. */
  readonly patienceMs: number;
}

/** How much of the caller's sound goes with a value that nothing may keep. */
export interface SecretSettings {
  /** Silence that goes on after the last key: its tone may still be on its way. */
  readonly tailMs: number;
  /** Sound of before it was asked for: keys that were pressed too early. */
  readonly earlierMs: number;
}

/** How a caller refuses further calls, in words or by a key. */
export interface OptOutSettings {
  /** What these words say; undefined where they refuse nothing. */
  readonly read: (words: string) => 'opt-out' | 'wrong-number' | undefined;
  /** The key that refuses further calls; undefined for none. */
  readonly key: string | undefined;
  /** Whether that key, pressed alone, works even where a question expects digits. */
  readonly keyAtAnyMoment: boolean;
  /** Quiet behind the words after which they were all. */
  readonly quietForMs: number;
  /** Partial words count once they have not changed for so long. */
  readonly stillMs: number;
  /** Words that have refused for so long count although the line is not quiet. */
  readonly heldMs: number;
  /** Words that come so long after others are no longer of the same sentence. */
  readonly apartMs: number;
}

export const DEFAULT_OPT_OUT: OptOutSettings = {
  read: () => undefined,
  key: undefined,
  keyAtAnyMoment: false,
  quietForMs: 240,
  stillMs: 500,
  heldMs: 1_200,
  apartMs: 2_500,
};

export const DEFAULT_LINE: LineSettings = { lateAfterMs: 60, lateUntilMs: 500 };

export const DEFAULT_ENDPOINTING: EndpointingSettings = {
  endpointingMs: 640,
  patienceMs: 600,
  sentenceShare: 0.75,
  stillMs: 200,
  maxTurnMs: 30_000,
  stableWordsMs: 2_500,
  tellingPauses: 3,
  pauseMargin: 1.15,
  pausePercentile: 0.9,
  frameEarlyMs: 8,
  settleFloorMs: 400,
  settleCapMs: 1_500,
  settleMargin: 1.5,
  settlePercentile: 0.95,
  settleAbandonMs: 5_000,
  coveredMs: 120,
  earlyStillMs: 120,
  mostEarly: 3,
};

export const DEFAULT_INTERRUPTION: InterruptionSettings = {
  holdAfterMs: 40,
  clearAfterMs: 120,
  unpitchedWeight: 0.5,
  mostUnpitchedMs: 60,
  resumeAfterQuietMs: 160,
  hissForMs: 240,
  decideWithinMs: 500,
  frameGraceMs: 200,
  reverseWithinMs: 1_500,
  backchannelOverMs: 180,
  doubtfulEvidenceMs: 480,
  doubtfulOverMs: 180,
  tonelessMs: 400,
  meantMs: 600,
  stopPhrases: [],
};

/** The product's numbers; whoever asks for values brings a reader for them. */
export const DEFAULT_TURN_SETTINGS: TurnSettings = {
  voice: { burstGapMs: 200, onsetFrames: 3, goingOnMs: 60, blipMs: 100, blipOverMs: 300, unclearMs: 300 },
  endpointing: DEFAULT_ENDPOINTING,
  interruption: DEFAULT_INTERRUPTION,
  waiting: { stillMs: 500, meantWords: 3, meantStillMs: 300 },
  line: DEFAULT_LINE,
  secret: { tailMs: 400, earlierMs: 250 },
  optOut: DEFAULT_OPT_OUT,
  farewell: { hangupAfterMarkMs: 400, patienceMs: 10_000 },
  noInputMs: 7_000,
  noInputAttempts: 4,
  interDigitMs: 2_000,
  incompletePatience: 2.5,
  settlingFillerMs: 700,
  thinkingFillerMs: 1_500,
  thinkingLimitMs: 10_000,
  stalledMs: 5_000,
  askEarlyMs: undefined,
  reader: NO_VALUES,
};

/** Quiet, in ms, after which most callers have said what they wanted to say: a bot that asks early asks then. */
const ASK_EARLY_MS = 240;

/** What a bot's file says of turn-taking. */
export interface BotTurnTaking {
  readonly endpointingMs: number;
  readonly noInputMs: number;
  readonly noInputAttempts: number;
  readonly askEarly: boolean;
  readonly interruption: Pick<InterruptionSettings, 'clearAfterMs' | 'reverseWithinMs' | 'stopPhrases'>;
}

/** The turn machine's settings as a bot asks for them. @param reader understands the values that its dialog asks for */
export function turnSettingsOf(bot: BotTurnTaking, reader: ValueReader): TurnSettings {
  const { endpointing, interruption } = DEFAULT_TURN_SETTINGS;
  const { clearAfterMs, reverseWithinMs, stopPhrases } = bot.interruption;
  return {
    ...DEFAULT_TURN_SETTINGS,
    endpointing: { ...endpointing, endpointingMs: bot.endpointingMs },
    interruption: { ...interruption, clearAfterMs, reverseWithinMs, stopPhrases: stopPhrases.map(plainWords) },
    noInputMs: bot.noInputMs,
    noInputAttempts: bot.noInputAttempts,
    askEarlyMs: bot.askEarly ? ASK_EARLY_MS : undefined,
    reader,
  };
}
