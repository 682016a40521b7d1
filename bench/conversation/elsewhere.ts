import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * What a benchmark beside this one measures: the one JSON document that is its last line, under its own name where it has one.
 * @returns undefined where there is no such benchmark
 */
export async function measureElsewhere(name: string, quick: boolean): Promise<unknown> {
  const program = fileURLToPath(new URL(`../${name}/measure.ts`, import.meta.url));
  if (!existsSync(program)) return undefined;
  const args = ['--import', import.meta.resolve('tsx'), program, '--json', ...(quick ? ['--quick'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const code = await new Promise((resolve) => {
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
  const document: unknown = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
  const named = typeof document === 'object' && document !== null && name in document;
  return named ? (document as Record<string, unknown>)[name] : document;
}
