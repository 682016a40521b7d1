import closeWithGrace from 'close-with-grace';
import { requireConfiguration } from './cli/configuration.ts';
import { speechSource } from './cli/speech-settings.ts';
import { FrontChannel } from './cluster/front-channel.ts';
import { systemClock } from './kernel/clock.ts';
import { createLogger } from './observability/logger.ts';
import { serveMedia } from './serve-media.ts';

/* A media process of `offhook start --processes`: started by the front, which says over their channel what it is to do. */

const channel = new FrontChannel(process);
const { config, bots } = requireConfiguration();
const { settings } = config;
const assignment = await channel.assigned;
const logger = createLogger({ level: settings.log.level, personal: settings.log.personal }).child({ process: assignment.number });
const stop = new AbortController();
const speech = await speechSource(config, logger, stop.signal, assignment.platform);
let media: Awaited<ReturnType<typeof serveMedia>> | undefined;
const ending = closeWithGrace({ delay: settings.http.closeGraceMs, logger: false }, async ({ err }) => {
  if (err !== undefined) logger.error({ error: err }, 'stopping after an error');
  await media?.close();
  await speech[Symbol.asyncDispose]();
});
media = await serveMedia({
  config,
  bots,
  speech: speech.settings,
  assignment,
  channel,
  clock: systemClock,
  logger,
  onDrain: () => ending.close(),
});
// Nobody reaches the calls of a process whose front is gone.
if (process.connected) process.once('disconnect', () => ending.close());
else ending.close();
