import type { Logger } from '../../observability/logger.ts';
import type { CallMemory } from './call-memory.ts';
import type { CallNews } from './call-news.ts';

type WithoutId<News> = News extends CallNews ? Omit<News, 'callId'> : never;
/** News of one call, whose id goes without saying. */
export type OwnNews = WithoutId<CallNews>;

export interface NewsServices {
  readonly logger: Logger;
  /** Hears what happens in calls, their words included. */
  readonly news: (news: CallNews) => void;
}

/** Tells whoever watches one call what happens in it. */
export class NewsTeller {
  readonly #callId: string;
  readonly #services: NewsServices;
  /** What was told of the dialog last; undefined before the first time. */
  #told: { readonly step: string | undefined; readonly changes: number } | undefined;

  constructor(callId: string, services: NewsServices) {
    this.#callId = callId;
    this.#services = services;
  }

  /** Whoever watches a call must not be able to end it. */
  tell(news: OwnNews): void {
    const callId = this.#callId;
    try {
      this.#services.news({ ...news, callId });
    } catch (error) {
      this.#services.logger.warn({ callId, error }, 'call observer failed');
    }
  }

  /** Where the dialog is; told where that has changed, with the variables as the record shows them. */
  state(step: string | undefined, memory: Pick<CallMemory, 'changes' | 'record'>): void {
    const { changes } = memory;
    if (this.#told !== undefined && this.#told.step === step && this.#told.changes === changes) return;
    this.#told = { step, changes };
    this.tell({ type: 'state', step: step ?? null, slots: memory.record.variables });
  }
}
