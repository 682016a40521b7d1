import type {
  Attempt,
  AttemptNews,
  AttemptRepository,
  AttemptState,
  Consent,
  DaySpending,
  Decided,
  DecisionEntry,
  KnownOfNumber,
  Suppression,
} from '../../../src/records/dialling.ts';

type AskedDay = Parameters<AttemptRepository['decide']>[1]['day'];
type Lease = { readonly owner: string; readonly untilMs: number };

/** Attempts in memory, for tests of faults that a real store does not have. `down` makes every method fail. */
export class MemoryAttempts implements Pick<AttemptRepository, 'decide' | 'get' | 'page' | 'advance' | 'renew' | 'abandoned'> {
  readonly rows = new Map<string, { attempt: Attempt; lease: Lease | undefined }>();
  readonly log: DecisionEntry[] = [];
  /** Calls by the start of the day and who asked. */
  readonly days = new Map<string, { calls: number; costMicros: number; isTold: boolean }>();
  readonly suppressed = new Map<string, readonly Suppression[]>();
  readonly consents = new Map<string, readonly Consent[]>();
  down: Error | undefined;

  #check(): void {
    if (this.down !== undefined) throw this.down;
  }

  get all(): readonly Attempt[] {
    return [...this.rows.values()].map(({ attempt }) => attempt);
  }

  #sum(dayMs: number, asker: string): { calls: number; costMicros: number; isTold: boolean } {
    return this.days.get(`${dayMs} ${asker}`) ?? { calls: 0, costMicros: 0, isTold: false };
  }

  #spending(day: AskedDay): DaySpending {
    if (day === undefined) return { tenant: { calls: 0, costMicros: 0 }, asker: undefined, earlier: [], isTold: false };
    const { startMs, earlier, asker } = day;
    const before = Array.from({ length: earlier }, (_, index) => this.#sum(startMs - (index + 1) * 86_400_000, '').calls);
    const tenant = this.#sum(startMs, '');
    const ofAsker = asker === undefined ? undefined : this.#sum(startMs, asker);
    return { tenant, asker: ofAsker, earlier: before.filter((calls) => calls > 0), isTold: tenant.isTold };
  }

  #spend(day: AskedDay, spent: Decided<unknown>['spent']): void {
    if (day === undefined || spent === undefined) return;
    for (const asker of day.asker === undefined ? [''] : ['', day.asker]) {
      const { calls, costMicros, isTold } = this.#sum(day.startMs, asker);
      const sum = { calls: calls + spent.calls, costMicros: costMicros + spent.costMicros, isTold: isTold || spent.isTold };
      this.days.set(`${day.startMs} ${asker}`, sum);
    }
  }

  decide: AttemptRepository['decide'] = async (_tenantId, { numbers, sinceMs, campaignId, lease, day }, decide) => {
    this.#check();
    const known = numbers.map((number): [string, KnownOfNumber] => {
      const own = this.all.filter(({ to, disposition }) => to === number && disposition !== 'refused');
      const placed = own.filter(({ placedAtMs, state }) => placedAtMs !== undefined || state !== 'ended');
      const facts = {
        suppressions: this.suppressed.get(number) ?? [],
        consents: this.consents.get(number) ?? [],
        attemptsMs: placed.map(({ placedAtMs, createdAtMs }) => placedAtMs ?? createdAtMs).filter((atMs) => atMs >= sinceMs),
        attemptsInCampaign: placed.filter((each) => campaignId !== undefined && each.campaignId === campaignId).length,
        isBeingCalled: own.some(({ state }) => state !== 'ended'),
        subject: `subject of ${number.length} characters`,
      };
      return [number, facts];
    });
    const { entries, attempts, spent, result } = decide(new Map(known), {}, this.log.at(-1), this.#spending(day));
    this.#spend(day, spent);
    this.log.push(...entries);
    const isThere = ({ contactId, index, disposition }: Pick<Attempt, 'contactId' | 'index' | 'disposition'>): boolean =>
      contactId !== undefined &&
      disposition !== 'refused' &&
      this.all.some((each) => each.contactId === contactId && each.index === index && each.disposition !== 'refused');
    for (const attempt of attempts.filter((each) => !isThere(each)))
      this.rows.set(attempt.id, { attempt: { ...attempt }, lease: attempt.state === 'queued' ? lease : undefined });
    return result;
  };

  async get(_tenantId: string, id: string): Promise<Attempt | undefined> {
    this.#check();
    return this.rows.get(id)?.attempt;
  }

  page: AttemptRepository['page'] = async (_tenantId, { contactId, limit }) => {
    this.#check();
    return { attempts: this.all.filter((attempt) => attempt.contactId === contactId).slice(-limit), next: undefined };
  };

  async advance(
    _tenantId: string,
    id: string,
    from: readonly AttemptState[],
    to: AttemptState,
    news: AttemptNews,
    lease?: Lease,
  ): Promise<boolean> {
    this.#check();
    const row = this.rows.get(id);
    if (row === undefined || !from.includes(row.attempt.state)) return false;
    const { placedAtMs, ...others } = news;
    const facts = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
    const placed = placedAtMs === undefined ? {} : { placedAtMs: placedAtMs ?? undefined };
    row.attempt = { ...row.attempt, ...facts, ...placed, state: to };
    row.lease = lease ?? row.lease;
    return true;
  }

  async renew(owner: string, untilMs: number): Promise<void> {
    this.#check();
    for (const row of this.rows.values()) if (row.lease?.owner === owner) row.lease = { owner, untilMs };
  }

  async abandoned({ nowMs, limit }: { nowMs: number; limit: number }): Promise<readonly Attempt[]> {
    this.#check();
    const left = [...this.rows.values()].filter(
      ({ attempt, lease }) => attempt.state !== 'ended' && (lease?.untilMs ?? 0) <= nowMs,
    );
    return left.slice(0, limit).map(({ attempt }) => attempt);
  }
}
