import { allowedText } from './setting.ts';
import type { LoadedConfig } from './load.ts';
import { catalogue } from './schema.ts';

export interface ExplainedSetting {
  readonly key: string;
  /** As it would be written; `[secret]` for a secret that is set; undefined when there is no value. */
  readonly value: string | undefined;
  /** `default`, an environment name or `file:line`. */
  readonly from: string;
  readonly envName: string;
  readonly aliases: readonly string[];
  readonly allowed: string;
  readonly description: string;
}

/** Every setting with its value and where that came from, in the order of the example file. */
export function explainConfig(config: LoadedConfig): ExplainedSetting[] {
  return catalogue.map((setting) => {
    const origin = config.origins.get(setting.key);
    const [group = '', ...below] = setting.path;
    const carrier = config.carriers.get(group);
    const found = carrier === undefined ? valueAt(config.settings, setting.path) : valueAt(carrier.settings, below);
    const value = setting.secret === true ? undefined : found;
    const secretText = origin === undefined ? undefined : '[secret]';
    return {
      key: setting.key,
      value: setting.secret === true ? secretText : printed(value),
      from: origin ?? 'default',
      envName: setting.envName,
      aliases: setting.aliases ?? [],
      allowed: allowedText(setting.schema, setting.unit),
      description: setting.description,
    };
  });
}

/** The table for people: key, value, source; columns padded with blanks. */
export function explainTable(config: LoadedConfig): string {
  const rows = explainConfig(config).map(({ key, value, from }) => [key, value ?? '(not set)', from] as const);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map(([key, value, from]) => `${key.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${from}`).join('\n');
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  let node = tree;
  for (const name of path) {
    if (typeof node !== 'object' || node === null) return undefined;
    node = Object.entries(node).find(([key]) => key === name)?.[1];
  }
  return node;
}

function printed(value: unknown): string | undefined {
  return typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
}
