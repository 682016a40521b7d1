import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { AlertChannel, AlertRule, Alerts } from '../config/alerts.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { writeFileAtomic } from '../kernel/temporary.ts';
import { SingleFlight } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import { sendNotice } from './channels.ts';
import { type FigureSources, readFigure } from './figures.ts';
import { type AlertNotice, noticeOf, testNotice } from './notice.ts';
import { type AlertReading, QUIET, type RuleState, stepRule } from './rule-state.ts';

const LOOK_MS = 60_000;
/** Tries of one delivery, a look apart. */
const MOST_TRIES = 5;
const MOST_DELIVERIES = 100;

const delivery = z.object({
  id: z.string(),
  channel: z.string(),
  rule: z.string().nullable(),
  notice: z.enum(['firing', 'resolved', 'test']),
  state: z.enum(['pending', 'delivered', 'failed']),
  tries: z.int(),
  /** Why the last try failed; null after a success. */
  reason: z.string().nullable(),
  atMs: z.number(),
});
export type AlertDelivery = z.output<typeof delivery>;

const ruleState = z.object({ sinceMs: z.number().optional(), told: z.boolean(), toldAtMs: z.number().optional() });
const kept = z.object({ states: z.record(z.string(), ruleState), deliveries: z.array(delivery) });

export interface AlertWatchParts {
  readonly alerts: Alerts;
  readonly sources: FigureSources;
  /** Whether this is the process that looks: one of several machines. */
  readonly isInCharge: () => Promise<boolean>;
  /** Where rules and deliveries are kept over restarts. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}

/** A rule as it stands. */
export interface RuleStanding {
  readonly rule: AlertRule;
  readonly state: RuleState;
  /** Undefined before the first look. */
  readonly reading: AlertReading | undefined;
}

interface Waiting {
  readonly channel: AlertChannel;
  readonly notice: AlertNotice;
  readonly id: string;
}

/** Looks at the rules once a minute, and tells the channels what has changed. */
export class AlertWatch implements AsyncDisposable {
  readonly #parts: AlertWatchParts;
  readonly #states = new Map<string, RuleState>();
  readonly #readings = new Map<string, AlertReading>();
  readonly #looking = new SingleFlight<void>();
  #deliveries: AlertDelivery[] = [];
  #waiting: readonly Waiting[] = [];
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(parts: AlertWatchParts) {
    this.#parts = parts;
  }

  get channels(): readonly AlertChannel[] {
    return this.#parts.alerts.channels;
  }

  get rules(): readonly RuleStanding[] {
    return this.#parts.alerts.rules.map((rule) => ({
      rule,
      state: this.#states.get(rule.name) ?? QUIET,
      reading: this.#readings.get(rule.name),
    }));
  }

  /** Newest first. */
  get deliveries(): readonly AlertDelivery[] {
    return this.#deliveries.toReversed();
  }

  /** Reads what an earlier process kept, and looks from now on. */
  async start(): Promise<void> {
    if (this.#parts.alerts.channels.length === 0) return;
    const text = await readFile(this.#parts.path, 'utf8').catch(() => '{}');
    const { data } = kept.safeParse(parsedJson(text));
    for (const [name, state] of Object.entries(data?.states ?? {})) this.#states.set(name, state);
    // What was not sent before the end of that process is not sent any more.
    this.#deliveries = (data?.deliveries ?? []).map((each) => (each.state === 'pending' ? { ...each, state: 'failed' } : each));
    this.#later();
  }

  /** Looks at every rule, and sends what is due. Never rejects. */
  look(): Promise<void> {
    return this.#looking.run(async () => {
      const { alerts, isInCharge } = this.#parts;
      if (alerts.rules.length > 0 && (await isInCharge())) for (const rule of alerts.rules) await this.#judge(rule);
      await this.#sendWaiting();
      await this.#keep();
    });
  }

  /** Sends a test to one channel. @returns undefined for an unknown channel */
  async test(name: string): Promise<AlertDelivery | undefined> {
    const channel = this.channels.find((each) => each.name === name);
    if (channel === undefined) return undefined;
    const id = newId('alert');
    const sent = await this.#send({ channel, notice: testNotice({ id, atMs: this.#parts.clock.wallMs() }), id }, 1);
    await this.#keep();
    return sent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#looking.run(async () => undefined);
  }

  #later(): void {
    if (this.#isClosed) return;
    this.#timer = this.#parts.clock.after(LOOK_MS, () => void this.look().then(() => this.#later()));
  }

  async #judge(rule: AlertRule): Promise<void> {
    const { clock, sources, logger, alerts } = this.#parts;
    try {
      const reading = await readFigure(rule, sources, clock.wallMs());
      this.#readings.set(rule.name, reading);
      const { state, notice } = stepRule(this.#states.get(rule.name) ?? QUIET, rule, reading, clock.wallMs());
      this.#states.set(rule.name, state);
      if (notice === undefined) return;
      logger.info({ rule: rule.name, figure: rule.figure, value: reading.value, notice }, 'alert');
      const told = noticeOf(notice, rule, reading, { id: newId('alert'), atMs: clock.wallMs() });
      const channels = alerts.channels.filter(({ name }) => rule.channels?.includes(name) ?? true);
      // Each channel's delivery has an id of its own, so that a repeated one is known there.
      this.#waiting = [
        ...this.#waiting,
        ...channels.map((channel) => ({ channel, notice: told, id: `${told.id}.${channel.name}` })),
      ];
    } catch (error) {
      logger.warn({ rule: rule.name, error }, 'alert rule not judged');
    }
  }

  async #sendWaiting(): Promise<void> {
    const due = this.#waiting;
    this.#waiting = [];
    const sent = await Promise.all(
      due.map(async (each) => {
        const tries = (this.#deliveries.find(({ id }) => id === each.id)?.tries ?? 0) + 1;
        return { each, outcome: await this.#send(each, tries) };
      }),
    );
    this.#waiting = [...this.#waiting, ...sent.flatMap(({ each, outcome }) => (outcome.state === 'pending' ? [each] : []))];
  }

  async #send({ channel, notice, id }: Waiting, tries: number): Promise<AlertDelivery> {
    const { clock, logger } = this.#parts;
    const reason = await sendNotice(channel, { ...notice, id }, clock);
    const isOver = notice.state === 'test' || tries >= MOST_TRIES;
    const state = reason === undefined ? 'delivered' : isOver ? 'failed' : 'pending';
    if (reason !== undefined) logger.warn({ channel: channel.name, tries, reason }, 'alert not delivered');
    const { rule = null, state: what } = notice;
    const entry = {
      id,
      channel: channel.name,
      rule,
      notice: what,
      state,
      tries,
      reason: reason ?? null,
      atMs: clock.wallMs(),
    } as const;
    this.#deliveries = [...this.#deliveries.filter((each) => each.id !== id), entry].slice(-MOST_DELIVERIES);
    return entry;
  }

  async #keep(): Promise<void> {
    const { path, logger } = this.#parts;
    const document = { states: Object.fromEntries(this.#states), deliveries: this.#deliveries };
    await writeFileAtomic(path, `${JSON.stringify(document)}\n`).catch((error: unknown) => {
      logger.warn({ error }, 'alerts not kept for the next start');
    });
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
