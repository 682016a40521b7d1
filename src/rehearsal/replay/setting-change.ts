import { type Bot, botSettings } from '../../config/bots.ts';

/** A setting's value; nested names have dots: `interruption.clearAfterMs`. */
export interface NamedSetting {
  readonly name: string;
  readonly value: unknown;
}

/**
 * Makes a change of a bot's settings.
 * @returns a function that throws TypeError, with the reason, for invalid settings
 */
export function settingChange(settings: readonly NamedSetting[]): (bot: Bot) => Bot {
  return (bot) => {
    const { folder, file: _file, version: _version, serverUrl: _serverUrl, dialogSecret: _secret, ...plain } = bot;
    const changed = settings.reduce<unknown>((document, { name, value }) => withValue(document, name.split('.'), value), plain);
    const parsed = botSettings.safeParse(changed);
    if (parsed.success) return { ...parsed.data, folder };
    const wrong = parsed.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '));
    throw new TypeError(`these are no settings of a bot: ${wrong.join('; ')}`);
  };
}

function withValue(document: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const fields: Record<string, unknown> = typeof document === 'object' && document !== null ? { ...document } : {};
  return { ...fields, [name]: withValue(fields[name], rest, value) };
}
