import closeWithGrace from 'close-with-grace';
import { readConfiguration, requireConfiguration } from './setup/configuration.ts';
import { speechSource } from './setup/speech-settings.ts';
import { stopInStages } from './stop-in-stages.ts';
import { FrontChannel } from '../hosts/front-channel.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLogger } from '../observability/logger.ts';
import { serveMedia } from '../hosts/serve-media.ts';

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
const ending = closeWithGrace(
  { delay: settings.http.closeGraceMs, logger: false, skip: ['SIGTERM', 'SIGINT', 'SIGHUP'] },
  async ({ err }) => {
    if (err !== undefined) logger.error({ error: err }, 'stopping after an uncaught error');
    leaving = true;
    await media?.close();
    await speech[Symbol.asyncDispose]();
  },
);
const leave = (): void => {
  if (!leaving) ending.close();
};
stopInStages({
  drain: () => media?.drain() ?? Promise.resolve(),
  drainMs: settings.call.drainMs,
  close: leave,
  clock: systemClock,
});
// The front reads the bots again, and says when this process is to do so.
process.on('SIGHUP', () => undefined);
// Nobody reaches the calls of a process whose front is gone; one that did not wait for their ends wants no other to.
process.once('disconnect', () => (leaving ? process.exit(1) : leave()));
media = await serveMedia({
  config,
  bots,
  // The front has looked for what is wrong with them.
  readBots: async () => readConfiguration({ OFFHOOK_BOTS__FOLDER: settings.bots.folder }).bots,
  speech: speech.settings,
  assignment,
  channel,
  clock: systemClock,
  logger,
  onDrain: leave,
});
if (!process.connected) leave();
