import type { Logger } from '../../observability/logger.ts';
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
  /** What was told of the dialog last, so that it is told when it changes. */
  #state = '';

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

  /** Where the dialog is; told where that has changed. @param slots as the record shows them */
  state(step: string | undefined, slots: Readonly<Record<string, string>>): void {
    const state = { type: 'state', step: step ?? null, slots } as const;
    const told = JSON.stringify(state);
    if (told === this.#state) return;
    this.#state = told;
    this.tell(state);
  }
}
