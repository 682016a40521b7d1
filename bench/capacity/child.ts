import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** What is measured in a process of its own. */
export interface Subject {
  readonly url: string;
  readonly authToken: string | undefined;
  facts(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export interface ChildReady {
  readonly type: 'ready';
  readonly url: string;
  readonly authToken: string | undefined;
}

export interface ChildReport {
  readonly type: 'report';
  readonly loopP99Ms: number;
  readonly longestGcMs: number;
  readonly facts: Readonly<Record<string, number>>;
}

/** Runs a subject for the process that forked this one: `start`, `measure` (begins a stretch), `report` (ends it). */
export function serveOrders(start: (argument: never) => Promise<Subject>): void {
  const delay = monitorEventLoopDelay({ resolution: 2 });
  let longestGcMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestGcMs = Math.max(longestGcMs, duration);
  }).observe({ entryTypes: ['gc'] });
  let subject: Subject | undefined;
  const orders = {
    async start(argument: unknown): Promise<void> {
      subject = await start(argument as never);
      process.send?.({ type: 'ready', url: subject.url, authToken: subject.authToken } satisfies ChildReady);
    },
    async measure(): Promise<void> {
      longestGcMs = 0;
      delay.reset();
      delay.enable();
    },
    async report(): Promise<void> {
      delay.disable();
      const facts = (await subject?.facts()) ?? {};
      process.send?.({ type: 'report', loopP99Ms: delay.percentile(99) / 1e6, longestGcMs, facts } satisfies ChildReport);
    },
  };
  process.on('message', ({ order, argument }: { order: keyof typeof orders; argument?: unknown }) => {
    orders[order](argument).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  process.once('disconnect', () => void subject?.close().finally(() => process.exit(0)));
}
