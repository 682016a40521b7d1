import { plainWords } from './transcript.ts';
import { NO_VALUES, type ValueReader } from './value-reader.ts';

/** Every number of turn-taking: times in ms on one monotonic clock, shares from 0 to 1. */
export interface TurnSettings {
  readonly voice: VoiceSettings;
  readonly endpointing: EndpointingSettings;
  readonly interruption: InterruptionSettings;
  readonly waiting: WaitingSettings;
  readonly line: LineSettings;
  readonly farewell: FarewellSettings;
  readonly secret: SecretSettings;
  readonly optOut: OptOutSettings;
  /** Silence of the caller, after the bot's, that counts as no input. */
  readonly noInputMs: number;
  /** Silences in a row that are reported to the dialog; one more gives the call up. */
  readonly noInputAttempts: number;
  /** Pause between keys that completes a keyed answer. */
  readonly interDigitMs: number;
  /** Factor on the wait for the next key while the value is incomplete. */
  readonly incompletePatience: number;
  /** Wait for words, or for the dialog, that is covered by a filler. */
  readonly settlingFillerMs: number;
  readonly thinkingFillerMs: number;
  /** Wait after which a silent dialog has failed the turn. */
  readonly thinkingLimitMs: number;
  /** How long a caller waits in silence for a sentence being made. */
  readonly stalledMs: number;
  /** Quiet, with stable words, after which the dialog is asked early; undefined for never. */
  readonly askEarlyMs: number | undefined;
  /** Reads the values that dialogs ask for. */
  readonly reader: ValueReader;
}

/** Which frames count as voice. */
export interface VoiceSettings {
  /** Quiet that separates two bursts of voice. */
  readonly burstGapMs: number;
  /** Voiced frames among the last four that make an onset. */
  readonly onsetFrames: number;
  /** Evidence that a burst after a pause is the caller going on, and not a knock. */
  readonly goingOnMs: number;
  /** Shorter voice without a word is no utterance: a click, a knock, a breath. */
  readonly blipMs: number;
  /** Quiet after which a blip is over. */
  readonly blipOverMs: number;
  /** A sound this short without a word is not an unclear answer. */
  readonly unclearMs: number;
}

/** How long a silence ends a turn that is over with some likelihood. */
export interface WaitRow {
  /** The least likelihood of this row. */
  readonly from: number;
  /** Share of the bot's silence, and what is added to it. */
  readonly share: number;
  readonly extraMs: number;
}

/** How the witnesses of an end of turn are weighed, and how long is waited then. */
export interface EndOfTurnSettings {
  /** The likeliest first; the last one takes what is left. */
  readonly waits: readonly WaitRow[];
  /** The shortest wait: a breath, so that a recognition error does not end the turn. */
  readonly leastMs: number;
  /** What each finding adds to the log-odds of an end. */
  readonly evidence: {
    /** The expected value: a part is missing, it may go on, it may but rarely does, nothing can follow. */
    readonly missing: number;
    readonly likelyMore: number;
    readonly unlikelyMore: number;
    readonly whole: number;
    /** Other words: they end within a sentence, in a number, or as a sentence does. */
    readonly leadsOn: number;
    readonly number: number;
    readonly sentence: number;
    /** The silence is no longer than the caller's pauses usually are. */
    readonly ownPause: number;
    /** A model's log-odds times `slope`, plus `offset`, within these bounds. */
    readonly sound: { readonly slope: number; readonly offset: number; readonly least: number; readonly most: number };
  };
  /** Time without change after which the words of a sentence are stable. */
  readonly stillMs: number;
  /** Number of pauses from which they characterise the caller, … */
  readonly tellingPauses: number;
  /** … who is then waited for this multiple of this percentile of them (a share). */
  readonly pauseMargin: number;
  readonly pausePercentile: number;
}

/** When a caller's turn ends. */
export interface EndpointingSettings {
  /** Silence after the last voiced frame that ends a turn of which nothing else is known. */
  readonly endpointingMs: number;
  readonly endOfTurn: EndOfTurnSettings;
  /** Quiet after which a model is asked how the turn sounded, once a pause; undefined without a model. */
  readonly askModelMs: number | undefined;
  /** A longer turn is committed although the caller still speaks. */
  readonly maxTurnMs: number;
  /** Time without change after which words end the turn although the line is never quiet (noise). */
  readonly stableWordsMs: number;
  /** Tolerance for frame timing when a silence completes: without it half of all turns would wait for another frame, 20 ms. */
  readonly frameEarlyMs: number;
  /** Shortest and longest wait for a final after the commit, before the partial is used. */
  readonly settleFloorMs: number;
  readonly settleCapMs: number;
  /** The wait for a final, as a multiple of this percentile (a share) of this session's commit-to-final times. */
  readonly settleMargin: number;
  readonly settlePercentile: number;
  /** Time without final or partial after which the turn counts as not understood. */
  readonly settleAbandonMs: number;
  /** Quiet after the last voiced frame before a final without an end mark counts as covering it. */
  readonly coveredMs: number;
  /** Time without change after which words are asked about early, and how often in a turn. */
  readonly earlyStillMs: number;
  readonly mostEarly: number;
}

/**
 * Who keeps the floor when the caller makes a sound while the bot speaks. In two steps: a *hold* stops feeding the carrier and costs nothing if it
 * was a cough; a *clear* takes back what is queued and gives the caller the floor.
 */
export interface InterruptionSettings {
  /** Recent voiced time that starts a contest (hold). */
  readonly holdAfterMs: number;
  /** Evidence that decides the contest for the caller (clear). */
  readonly clearAfterMs: number;
  /** Weight of a frame without pitch at the start of a sound, against a pitched one: an "s", or most of a cough. */
  readonly unpitchedWeight: number;
  /** Most evidence from frames without pitch: hissing cannot interrupt. */
  readonly mostUnpitchedMs: number;
  /** Quiet within a contest that decides it for the bot (resume). */
  readonly resumeAfterQuietMs: number;
  /** Time after which a sound without pitch is not speech: less than the carrier's lead, so that the hold is inaudible. */
  readonly hissForMs: number;
  /** Longest contest; undecided, the bot goes on. */
  readonly decideWithinMs: number;
  /** Extra wait of a contest for a deciding frame, where the carrier sends none. */
  readonly frameGraceMs: number;
  /** Time from the caller's first sound in which words may still reverse the decision. */
  readonly reverseWithinMs: number;
  /** Quiet after a backchannel that shows its end. */
  readonly backchannelOverMs: number;
  /** An interruption with less evidence than this, and no word, may have been a cough or a "mm-hm", … */
  readonly doubtfulEvidenceMs: number;
  /** … and was one after this much quiet or time without pitch: the bot speaks on, until words come. */
  readonly doubtfulOverMs: number;
  readonly tonelessMs: number;
  /** A shorter interruption without a word is ignored: the bot speaks on. */
  readonly meantMs: number;
  /** Phrases that always stop the bot, in the form of `plainWords`. */
  readonly stopPhrases: readonly string[];
}

/** How words of a caller who was asked to wait are treated. */
export interface WaitingSettings {
  /** Time without change after which a partial of waiting words is complete; before it, it may go on ("okay, Tuesday please"). */
  readonly stillMs: number;
  /** Number of words during a wait that, once stable, count as an utterance. */
  readonly meantWords: number;
  readonly meantStillMs: number;
}

/** When the line is late. */
export interface LineSettings {
  /** A line is late when nothing has come for this long after it was due, … */
  readonly lateAfterMs: number;
  /** … and away after this, instead of late: some carriers send nothing during silence. */
  readonly lateUntilMs: number;
}

/** When a bot hangs up after its goodbye. */
export interface FarewellSettings {
  /** Pause between the last mark and the end of the call. */
  readonly hangupAfterMarkMs: number;
  /** Longest wait after the goodbye in a room that never falls silent. */
  readonly patienceMs: number;
}

/** How much of the caller's audio is removed with a secret value. */
export interface SecretSettings {
  /** Silence after the last key, whose tone may still be on its way. */
  readonly tailMs: number;
  /** Audio removed from before the question, for keys pressed early. */
  readonly earlierMs: number;
}

/** How a caller opts out, in words or by a key. */
export interface OptOutSettings {
  /** What these words mean; undefined where they refuse nothing. */
  readonly read: (words: string) => 'opt-out' | 'wrong-number' | undefined;
  /** The opt-out key; undefined for none. */
  readonly key: string | undefined;
  /** Whether the key, pressed alone, works even where a question expects digits. */
  readonly keyAtAnyMoment: boolean;
  /** Quiet after the words that ends them. */
  readonly quietForMs: number;
  /** Time without change after which partial words count. */
  readonly stillMs: number;
  /** Time after which refusing words count although the line is not quiet. */
  readonly heldMs: number;
  /** Gap after which words belong to another sentence. */
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

/** Measured on turns of people, with a model and without: `bench/endpointing`. */
export const DEFAULT_END_OF_TURN: EndOfTurnSettings = {
  waits: [
    { from: 0.98, share: 0.3, extraMs: 0 },
    { from: 0.6, share: 0.7, extraMs: 0 },
    { from: 0.45, share: 1, extraMs: 0 },
    { from: 0.15, share: 1, extraMs: 300 },
    { from: 0.005, share: 1, extraMs: 600 },
    { from: 0, share: 1, extraMs: 1_200 },
  ],
  leastMs: 200,
  evidence: {
    missing: -7,
    likelyMore: -2,
    unlikelyMore: 1.5,
    whole: 9,
    leadsOn: -2,
    number: -1,
    sentence: 0.3,
    ownPause: -2,
    sound: { slope: 0.4, offset: -0.2, least: -3, most: 1.2 },
  },
  stillMs: 200,
  tellingPauses: 8,
  pauseMargin: 1.15,
  pausePercentile: 0.75,
};

export const DEFAULT_ENDPOINTING: EndpointingSettings = {
  endpointingMs: 600,
  endOfTurn: DEFAULT_END_OF_TURN,
  askModelMs: undefined,
  maxTurnMs: 30_000,
  stableWordsMs: 2_500,
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

/** The product's defaults; a caller that asks for values supplies a reader. */
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

/** Quiet, in ms, after which most callers have finished: a bot that asks early asks then. */
const ASK_EARLY_MS = 240;

/** Turn-taking settings in a bot's file. */
export interface BotTurnTaking {
  readonly endpointingMs: number;
  readonly noInputMs: number;
  readonly noInputAttempts: number;
  readonly askEarly: boolean;
  readonly interruption: Pick<InterruptionSettings, 'clearAfterMs' | 'reverseWithinMs' | 'stopPhrases'>;
}

/** A bot's settings of the turn machine. @param reader reads the values its dialog asks for */
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
