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
let leaving = false;
// A terminal and a service manager tell all processes of a group at once, and the front tells this one as well.
const told = ['SIGINT', 'SIGTERM'] as const;
const ending = closeWithGrace({ delay: settings.http.closeGraceMs, logger: false, skip: [...told] }, async ({ err }) => {
  if (err !== undefined) logger.error({ error: err }, 'stopping after an error');
  leaving = true;
  await media?.close();
  await speech[Symbol.asyncDispose]();
});
const leave = (): void => {
  if (!leaving) ending.close();
};
for (const signal of told) process.on(signal, leave);
// Nobody reaches the calls of a process whose front is gone; one that did not wait for their ends wants no other to.
process.once('disconnect', () => (leaving ? process.exit(1) : leave()));
media = await serveMedia({
  config,
  bots,
  speech: speech.settings,
  assignment,
  channel,
  clock: systemClock,
  logger,
  onDrain: leave,
});
if (!process.connected) leave();
