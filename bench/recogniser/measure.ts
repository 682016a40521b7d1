// Recognition (bench/recogniser/README.md): of the built-in recogniser, with --people of people by it, with --model of a speech model, with
// --hints of hints by their sound.
if (process.argv.includes('--hints')) await import('./hints.ts');
else if (process.argv.includes('--model')) await import('./model.ts');
else if (process.argv.includes('--people')) await import('./people.ts');
else await import('./built-in.ts');
