import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** What is measured in a process of its own. */
export interface Subject {
  readonly url: string;
  readonly authToken: string | undefined;
  /** Has every scope of the API, where the subject serves one. */
  readonly apiKey?: string;
  facts(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export interface ChildReady {
  readonly type: 'ready';
  readonly url: string;
  readonly authToken: string | undefined;
  readonly apiKey?: string | undefined;
}

export interface ChildReport {
  readonly type: 'report';
  readonly loopP99Ms: number;
  readonly longestGcMs: number;
}

/** What only the subject can tell; a gateway tells some of it when calls end. */
export interface ChildFacts {
  readonly type: 'facts';
  readonly facts: Readonly<Record<string, number>>;
}

export type ChildOrder =
  | { readonly order: 'start'; readonly argument: unknown }
  /** Begins a stretch. */
  | { readonly order: 'measure' }
  /** Blocks the event loop for so long, so often, until the report. */
  | { readonly order: 'stall'; readonly argument: { readonly everyMs: number; readonly durationMs: number } }
  /** Ends the stretch. */
  | { readonly order: 'report' }
  | { readonly order: 'facts' };

/** Runs a subject for the process that forked this one. */
export function serveOrders(start: (argument: never) => Promise<Subject>): void {
  const delay = monitorEventLoopDelay({ resolution: 2 });
  let longestGcMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestGcMs = Math.max(longestGcMs, duration);
  }).observe({ entryTypes: ['gc'] });
  let subject: Subject | undefined;
  let stalls: NodeJS.Timeout | undefined;
  const obey = async (message: ChildOrder): Promise<void> => {
    switch (message.order) {
      case 'start': {
        subject = await start(message.argument as never);
        const { url, authToken, apiKey } = subject;
        process.send?.({ type: 'ready', url, authToken, apiKey } satisfies ChildReady);
        break;
      }
      case 'measure':
        longestGcMs = 0;
        delay.reset();
        delay.enable();
        break;
      case 'stall': {
        const { everyMs, durationMs } = message.argument;
        stalls = setInterval(() => block(durationMs), everyMs);
        break;
      }
      case 'report':
        clearInterval(stalls);
        delay.disable();
        process.send?.({
          type: 'report',
          loopP99Ms: delay.percentile(99) / 1e6,
          longestGcMs,
        } satisfies ChildReport);
        break;
      case 'facts':
        process.send?.({ type: 'facts', facts: (await subject?.facts()) ?? {} } satisfies ChildFacts);
        break;
    }
  };
  process.on('message', (message: ChildOrder) => {
    obey(message).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  process.once('disconnect', () => void subject?.close().finally(() => process.exit(0)));
}

function block(durationMs: number): void {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs);
}
