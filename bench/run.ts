// npm run bench -- [NAME] [options]
// Runs bench/NAME/measure.ts, or the part bench/NAME/PART.ts for NAME/PART. Without a name: those of the gateway's speed, one after the other.
import { existsSync, readdirSync } from 'node:fs';

const [name, ...options] = process.argv.slice(2);
const named = name !== undefined && !name.startsWith('-');
const file = new URL(named ? `./${name.includes('/') ? name : `${name}/measure`}.ts` : './measure-all.ts', import.meta.url);
if (existsSync(file)) {
  if (named) process.argv.splice(2, Infinity, ...options);
  await import(file.href);
} else {
  const names = readdirSync(new URL('.', import.meta.url)).filter((folder) =>
    existsSync(new URL(`./${folder}/measure.ts`, import.meta.url)),
  );
  console.error(`There is no benchmark ${name}. There are: ${names.join(', ')}.`);
  process.exitCode = 2;
}
