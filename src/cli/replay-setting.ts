import { type Bot, botSettings } from '../config/bots.ts';

/**
 * Reads `name=value` pairs, with dots in names for what lies deeper, as a change of a bot's settings.
 * @returns the change, or what is wrong with the pairs; the change throws when a bot cannot have such settings
 */
export function settingChange(pairs: readonly string[]): ((bot: Bot) => Bot) | string {
  const changes: { readonly path: readonly string[]; readonly value: unknown }[] = [];
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) return `"${pair}" is no name=value`;
    changes.push({ path: pair.slice(0, at).split('.'), value: valueOf(pair.slice(at + 1)) });
  }
  return (bot) => {
    const { folder, serverUrl: _serverUrl, dialogSecret: _secret, ...settings } = bot;
    const changed = changes.reduce<unknown>((document, { path, value }) => withValue(document, path, value), settings);
    const parsed = botSettings.safeParse(changed);
    if (parsed.success) return { ...parsed.data, folder };
    const wrong = parsed.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '));
    throw new Error(`these are no settings of a bot: ${wrong.join('; ')}`);
  };
}

function withValue(document: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const fields: Record<string, unknown> = typeof document === 'object' && document !== null ? { ...document } : {};
  return { ...fields, [name]: withValue(fields[name], rest, value) };
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
