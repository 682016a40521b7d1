import type { Logger } from '../../observability/logger.ts';

const MOST_BOOST_PHRASES = 10;
/** Languages of India by ISO code and by name, as `language_code` takes both (ASR doc, parameter table). */
const INDIAN = new Set(
  `as assamese bn bengali brx bodo doi dogri gu gujarati hi hindi kn kannada ks kashmiri kok konkani mai maithili ml malayalam
  mni manipuri mr marathi ne nepali or odia pa punjabi sa sanskrit sat santali sd sindhi ta tamil te telugu ur urdu
  bho bhojpuri hne chhattisgarhi raj rajasthani`.split(/\s+/u),
);

/** The options that are checked. */
export interface AdvisedOptions {
  readonly language?: string | undefined;
  readonly boostPhrases?: readonly string[] | undefined;
  readonly boostWeight?: number | undefined;
}

/** Logs warnings of options without the expected effect, each once for a client. */
export class RecognitionAdvice {
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  forStream(options: AdvisedOptions): void {
    const phrases = options.boostPhrases?.length ?? 0;
    if (phrases > MOST_BOOST_PHRASES) this.#once('only the first ten boost phrases are used', { phrases });
    if (!isExplicit(options.language))
      this.#once('streaming without a language is slow and less accurate: name it where it is known', {});
    this.forAny(options);
  }

  /** `boost_weight` is for Indian languages, and ignored for English and `auto` (ASR doc, parameter table). */
  forAny({ language, boostPhrases = [], boostWeight }: AdvisedOptions): void {
    if (boostPhrases.length === 0 && boostWeight === undefined) return;
    const code = language?.trim().toLowerCase().split(/[-_]/u)[0] ?? '';
    if (!INDIAN.has(code)) this.#once('boosting has little or no effect without an Indian language', { language });
  }

  /** A warning of the platform about a session. */
  fromPlatform(warning: string): void {
    this.#once(`the platform warns: ${warning.slice(0, 500)}`, {});
  }

  #once(message: string, facts: Record<string, unknown>): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#logger.warn(facts, message);
  }
}

function isExplicit(language: string | undefined): boolean {
  const word = language?.trim().toLowerCase() ?? '';
  return word !== '' && word !== 'auto';
}
