// Recognition (bench/recogniser.md): of the built-in recogniser, with --people of people by it, with --model of a speech model, with
// --hints of hints by their sound.
if (process.argv.includes('--hints')) await import('./recogniser/hints.ts');
else if (process.argv.includes('--model')) await import('./recogniser/model.ts');
else if (process.argv.includes('--people')) await import('./recogniser/people.ts');
else await import('./recogniser/built-in.ts');
