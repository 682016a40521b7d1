// The platform's process, as `cli/setup/platform-process.ts` starts it.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { createLogger } from '../observability/logger.ts';
import { createEngines } from './engines/engines.ts';
import { runPlatform } from './main.ts';

const flags = z
  .object({
    port: z.coerce.number().int().min(0).max(65_531),
    profile: z.enum(['plain', 'hosted-like']),
    'data-dir': z.string().min(1),
    vocabulary: z.string().min(1),
    models: z.string().optional(),
    threads: z.coerce.number().int().min(0).max(64).default(0),
    'audio-hosts': z.string().optional(),
    faults: z.string().optional(),
    'log-level': z.enum(['debug', 'info', 'warn', 'error']).default('warn'),
    json: z.boolean().default(false),
    'exit-with-parent': z.boolean().default(false),
  })
  .parse(
    parseArgs({
      options: {
        port: { type: 'string' },
        profile: { type: 'string' },
        'data-dir': { type: 'string' },
        vocabulary: { type: 'string' },
        models: { type: 'string' },
        threads: { type: 'string' },
        'audio-hosts': { type: 'string' },
        faults: { type: 'string' },
        'log-level': { type: 'string' },
        json: { type: 'boolean' },
        'exit-with-parent': { type: 'boolean' },
      },
    }).values,
  );

const logger = createLogger({ level: flags['log-level'] });
try {
  await runPlatform({
    port: flags.port,
    profile: flags.profile,
    json: flags.json,
    exitWithParent: flags['exit-with-parent'],
    dataDir: flags['data-dir'],
    audioHosts: flags['audio-hosts'],
    faults: flags.faults,
    createEngines: (cacheFolder) =>
      createEngines({
        cacheFolder,
        vocabularyFolder: flags.vocabulary,
        modelsFolder: flags.models,
        threads: flags.threads,
        clock: systemClock,
        logger,
      }),
    clock: systemClock,
    logger,
    process,
  });
} catch (error) {
  // A parent reports the problem itself; otherwise one log line.
  if (flags['exit-with-parent']) process.stdout.write(`${JSON.stringify({ problem: errorText(error) })}\n`);
  else logger.error({ error }, 'speech platform could not start');
  process.exitCode = 1;
}
