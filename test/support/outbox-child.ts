import { Outbox } from '../../src/records/outbox/outbox.ts';

/** Appends numbered entries to the outbox of the folder in its first argument for ever, printing each number once it is kept. */
const outbox = await Outbox.open(process.argv[2] ?? '', () => Date.now());
const filler = 'x'.repeat(20_000);
for (let number = 0; ; number += 1) {
  await outbox.append('number', { number, filler });
  process.stdout.write(`${number}\n`);
}
