import type { Bot } from '../../config/bots.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { meant } from '../../config/nearest.ts';
import { type Problem, shown } from '../../config/problem.ts';
import { systemClock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { silentLogger } from '../../observability/logger.ts';
import type { RecogniserCapabilities, SynthesizerCapabilities } from '../../speech/port.ts';
import { chosen, isNamed, knows, speechDefaults } from '../../speech/routing/choice.ts';
import { PLATFORM } from '../../speech/routing/routed-vendor.ts';
import { vendors as every } from '../../speech/vendors/registry.ts';
import type { SpeechVendor } from '../../speech/vendors/vendor.ts';

/** What can be said of a vendor without asking it. */
interface KnownVendor {
  readonly recogniser: RecogniserCapabilities | undefined;
  readonly synthesizer: SynthesizerCapabilities | undefined;
}

const WARNING = { severity: 'warning' } as const;
const SERVICES = ['recogniser', 'synthesizer'] as const;
type Service = (typeof SERVICES)[number];

/**
 * What is wrong with who is to recognise and speak: a name of no vendor, a vendor without its key or without that service, and a
 * language that none of a list knows. Vendors are opened, and nothing is sent to them.
 */
export async function speechProblems(
  config: Pick<LoadedConfig, 'settings' | 'vendors' | 'origins'>,
  bots: readonly Bot[],
  vendors: readonly SpeechVendor[] = every,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const known = new Map<string, KnownVendor>();
  const broken = new Set<string>();
  const defaults = speechDefaults(config.settings.speech);
  for (const vendor of vendors) {
    const configured = config.vendors.get(vendor.name);
    if (configured === undefined) continue;
    try {
      await using open = vendor.open(configured, { clock: systemClock, logger: silentLogger });
      if (open === undefined) continue;
      known.set(vendor.name, { recogniser: open.recogniser?.capabilities, synthesizer: open.synthesizer?.capabilities });
    } catch (error) {
      const { name: key } = vendor;
      const used = isNamed(key, bots, defaults);
      const message = errorText(error);
      problems.push({ key, where: key, message: used ? message : `${message}; no bot uses it`, ...(!used && WARNING) });
      broken.add(key);
    }
  }
  const names = [PLATFORM, ...vendors.map(({ name }) => name)];
  const problemOf = (service: Service, name: string): Pick<Problem, 'message' | 'nearest'> | undefined => {
    // Why one cannot be opened is said once.
    if (name === PLATFORM || broken.has(name)) return undefined;
    const vendor = vendors.find((each) => each.name === name);
    if (vendor === undefined) return { message: `is no speech vendor; there are ${names.join(', ')}`, ...meant(name, names) };
    const found = known.get(name);
    if (found === undefined) return { message: `${vendor.title} is not configured: it needs ${vendor.needs}` };
    if (found[service] !== undefined) return undefined;
    const what = service === 'recogniser' ? 'recognises' : 'speaks';
    return { message: `${vendor.title} ${what} nothing as it is configured: it needs ${vendor.needs}` };
  };
  const check = (service: Service, list: readonly string[], place: Pick<Problem, 'key' | 'where'>): void => {
    for (const name of list) {
      const problem = problemOf(service, name);
      if (problem !== undefined) problems.push({ ...place, value: shown(name), ...problem });
    }
  };
  for (const service of SERVICES) {
    const key = `speech.${service}`;
    check(service, defaults[service], { key, where: config.origins.get(key) ?? key });
  }
  for (const bot of bots) {
    const place = (key: string): Pick<Problem, 'key' | 'where'> => ({
      key,
      where: bot.whereOf?.(key.split('.')) ?? `bot ${bot.name}`,
    });
    for (const service of SERVICES) {
      check(service, bot.speech[service] ?? [], place(`speech.${service}`));
      for (const [code, own] of Object.entries(bot.speech.languages))
        check(service, own[service] ?? [], place(`speech.languages.${code}.${service}`));
      for (const language of new Set([bot.language, ...Object.keys(bot.speech.languages)])) {
        const list = chosen(service, bot, language, defaults);
        const able = list.flatMap((name) => known.get(name)?.[service] ?? []);
        // The speech platform's languages are checked with those of its own list.
        if (able.length === 0 || list.includes(PLATFORM) || able.some((capabilities) => knows(capabilities, language))) continue;
        const what = service === 'recogniser' ? 'recognised' : 'spoken';
        const message = `is not among the languages that are ${what} by ${list.join(', ')}`;
        const key = language === bot.language ? 'language' : `speech.languages.${language}`;
        problems.push({ ...place(key), value: shown(language), message, severity: 'warning' });
      }
    }
    for (const name of [
      ...Object.keys(bot.speech.voices),
      ...Object.values(bot.speech.languages).flatMap(({ voices }) => Object.keys(voices)),
    ]) {
      if (names.includes(name)) continue;
      const message = `is no speech vendor; there are ${names.join(', ')}`;
      problems.push({ ...place('speech.voices'), value: shown(name), message, ...meant(name, names) });
    }
  }
  return problems;
}
