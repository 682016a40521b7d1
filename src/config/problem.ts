/** One thing wrong with the configuration. Never contains a secret's value. */
export interface Problem {
  /** The setting or the environment name that is wrong, as the operator wrote it. */
  readonly key: string;
  /** Where it was written: an environment name, or `file:line`. */
  readonly where: string;
  /** What was found, shortened; undefined for secrets and for things that are missing. */
  readonly value?: string;
  /** What is wrong, and what is allowed instead. */
  readonly message: string;
  /** The known key that was probably meant. */
  readonly nearest?: string;
  /** Something that keeps nothing from working by itself; an error where absent. */
  readonly severity?: 'warning';
  /** What cannot work with it: calls alone, as without a bot's secret; everything where absent. */
  readonly affects?: 'calls';
}

/** The problems with which nothing is started. */
export function errorsOf(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ severity }) => severity === undefined);
}

/** A value as messages show it: JSON, at most 80 characters. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** One line for people: `http.port (OFFHOOK_PORT): "eighty" … whole number, 0 to 65535`. */
export function problemText(problem: Problem): string {
  const value = problem.value === undefined ? '' : ` is ${problem.value}`;
  const meant = problem.nearest === undefined ? '' : ` Did you mean ${problem.nearest}?`;
  const where = problem.where === problem.key ? '' : ` (${problem.where})`;
  const kind = problem.severity === undefined ? '' : `${problem.severity}: `;
  return `${kind}${problem.key}${where}${value}: ${problem.message}.${meant}`;
}

/**
 * A schema's complaint in words for the file's author: says that a value is missing, or that a number such as an unquoted +15550100 needs quotes in
 * YAML.
 * @param message zod's own
 * @param value the value in question; undefined if missing
 */
export function complaint(message: string, value: unknown): { value?: string; message: string } {
  if (value === undefined) return { message: message.replace(/^Invalid input: expected \w+, received undefined$/, 'is missing') };
  const unquoted = typeof value === 'number' && message.startsWith('Invalid input: expected string');
  return { value: shown(value), message: unquoted ? 'a text is expected here: put it in quotes' : message };
}
