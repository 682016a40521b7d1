import { stringify } from 'yaml';
import { allowedText, defaultOf } from './setting.ts';
import { catalogue } from './schema.ts';

const heading = `# Every setting of Offhook with its default. Generated from src/config/schema.ts (see docs/CONTRIBUTING.md); a test compares the two.
# Change settings in config/local.yaml (same keys), in the file that OFFHOOK_CONFIG names, or in the environment. The
# environment wins: OFFHOOK_ + the path in capitals, __ between levels. \`npx offhook config explain\` shows the result.
`;

/** The text of config/default.yaml: values at their defaults, settings without one and secrets as comments. */
export function exampleFile(): string {
  const lines = [heading];
  let above: readonly string[] = [];
  const enter = (group: readonly string[], mark: string): void => {
    group.forEach((name, depth) => {
      if (above[depth] !== name) lines.push(`${'  '.repeat(depth)}${mark}${name}:`);
    });
    above = group;
  };
  for (const setting of catalogue) {
    if (setting.secret === true) continue;
    const isGroup = setting.path.length > 1;
    const mark = isGroup && !hasDefaults(setting.path[0]) ? '# ' : '';
    enter(setting.path.slice(0, -1), mark);
    const indent = mark + '  '.repeat(setting.path.length - 1);
    const name = setting.path.at(-1)!;
    lines.push(`${indent}# ${setting.description}.`);
    lines.push(`${indent}# ${allowedText(setting.schema, setting.unit)}; ${[setting.envName, ...aliasesOf(setting)].join(', ')}`);
    const value = defaultOf(setting.schema);
    lines.push(value === undefined ? `${indent}# ${name}:` : `${indent}${stringify({ [name]: value }).trimEnd()}`);
  }
  lines.push(
    '',
    '# Secrets come from the environment, or from the file that <NAME>_FILE names; they are refused in a settings file.',
  );
  for (const setting of catalogue) {
    if (setting.secret !== true) continue;
    lines.push(`#   ${[...aliasesOf(setting), setting.envName].join(', ')}: ${setting.description}`);
  }
  return `${lines.join('\n')}\n`;
}

/** A group without any value is a comment as its settings are: as a key it would stand for nothing. */
function hasDefaults(group: string | undefined): boolean {
  return catalogue.some(({ path, secret, schema }) => path[0] === group && secret !== true && defaultOf(schema) !== undefined);
}

function aliasesOf(setting: { readonly envName: string; readonly aliases?: readonly string[] }): string[] {
  return (setting.aliases ?? []).filter((alias) => alias !== setting.envName);
}
