import type { Logger } from '../../observability/logger.ts';
import type { CallMemory } from './call-memory.ts';
import type { CallNews } from './call-news.ts';

type WithoutId<News> = News extends CallNews ? Omit<News, 'callId'> : never;
/** News of one call, without its id. */
export type OwnNews = WithoutId<CallNews>;

export interface NewsServices {
  readonly logger: Logger;
  /** Hears the news of calls, including what was said. */
  readonly news: (news: CallNews) => void;
}

/** Tells the listeners of one call what happens in it. */
export class NewsTeller {
  readonly #callId: string;
  readonly #services: NewsServices;
  /** The dialog state told last; undefined before the first. */
  #told: { readonly step: string | undefined; readonly changes: number } | undefined;

  constructor(callId: string, services: NewsServices) {
    this.#callId = callId;
    this.#services = services;
  }

  /** An error in a listener must not end the call. */
  tell(news: OwnNews): void {
    const callId = this.#callId;
    try {
      this.#services.news({ ...news, callId });
    } catch (error) {
      this.#services.logger.warn({ callId, error }, 'call observer failed');
    }
  }

  /** The dialog's position, told when it has changed, with the variables as the record shows them. */
  state(step: string | undefined, memory: Pick<CallMemory, 'changes' | 'record'>): void {
    const { changes } = memory;
    if (this.#told !== undefined && this.#told.step === step && this.#told.changes === changes) return;
    this.#told = { step, changes };
    this.tell({ type: 'state', step: step ?? null, slots: memory.record.variables });
  }
}
