import type { Clock } from '../kernel/clock.ts';
import { SingleFlight, sleep, within } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import type { SharedState } from './shared-state/port.ts';
import type { PeerLink } from './peer-link.ts';

/** What another machine says of Redis; `gone` where nobody listens at its address any more, or it leaves. */
export type RedisThere = 'there' | 'away' | 'silent' | 'gone';

export interface CutOffOptions {
  readonly shared: Pick<SharedState, 'isAway'>;
  /** The other machines, those that were there last. */
  readonly peers: () => Promise<readonly CutOffPeer[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type CutOffPeer = Pick<PeerLink, 'ask' | 'isLeaving' | 'isRefused'>;

const ASK_WITHIN_MS = 1_000;
/** One look serves everybody who asks meanwhile. */
const LOOK_AGAIN_MS = 1_000;
/** Redis that is back by then was not lost: machines notice at different moments that it comes and goes. */
const SETTLE_MS = 500;

/** Whether this machine is the one that is cut off, so that others had better take its calls; or Redis is down for everybody, and all go on. */
export class CutOff {
  readonly #options: CutOffOptions;
  readonly #looking = new SingleFlight<void>();
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;

  constructor(options: CutOffOptions) {
    this.#options = options;
  }

  /** @returns why this machine is cut off; undefined while it is not. The other machines are asked only while Redis is away */
  async problem(): Promise<string | undefined> {
    const { shared, clock } = this.#options;
    if (shared.isAway && clock.nowMs() >= this.#lookedAtMs + LOOK_AGAIN_MS) await this.#looking.run(() => this.#look());
    if (!shared.isAway) {
      this.#lookedAtMs = Number.NEGATIVE_INFINITY;
      this.#note(undefined);
    }
    return this.#problem;
  }

  async #look(): Promise<void> {
    const { shared, peers, clock } = this.#options;
    const answers = await Promise.all((await peers()).map((peer) => this.#answerOf(peer)));
    const problem = cutOffBy(answers);
    if (problem !== undefined && this.#problem === undefined) await sleep(clock, SETTLE_MS);
    this.#lookedAtMs = clock.nowMs();
    if (shared.isAway) this.#note(problem);
  }

  async #answerOf(peer: CutOffPeer): Promise<RedisThere> {
    const asked = hasRedis(peer).then(
      (isThere): RedisThere => (isThere ? 'there' : 'away'),
      (): RedisThere => 'silent',
    );
    const answer = await within<RedisThere, RedisThere>(this.#options.clock, ASK_WITHIN_MS, asked, 'silent');
    const isGone = peer.isLeaving || peer.isRefused;
    return isGone && answer !== 'away' ? 'gone' : answer;
  }

  #note(problem: string | undefined): void {
    const { logger } = this.#options;
    if (problem !== undefined && this.#problem === undefined)
      logger.error({ problem }, 'this machine is not ready: it is cut off');
    if (problem === undefined && this.#problem !== undefined) logger.info({}, 'this machine is no longer cut off');
    this.#problem = problem;
  }
}

/** @throws as `ask` of `PeerLink` */
export async function hasRedis(peer: Pick<PeerLink, 'ask'>): Promise<boolean> {
  const { isAway } = await peer.ask('shared-state', null);
  return !isAway;
}

/** @returns why a machine is cut off that Redis does not answer, by what the others say of Redis; undefined where it is not, or is alone */
export function cutOffBy(answers: readonly RedisThere[]): string | undefined {
  if (answers.includes('there')) return 'cut off: Redis answers other machines, and not this one';
  const silent = answers.filter((answer) => answer === 'silent').length;
  if (silent === 0 || answers.includes('away')) return undefined;
  return `cut off: neither Redis nor ${silent === 1 ? 'the other machine' : `any of ${silent} other machines`} answers`;
}
