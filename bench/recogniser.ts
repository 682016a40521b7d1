// Recognition (bench/recogniser.md): of the built-in recogniser, with --model of a speech model, with --hints of hints by their sound.
if (process.argv.includes('--hints')) await import('./recogniser/hints.ts');
else if (process.argv.includes('--model')) await import('./recogniser/model.ts');
else await import('./recogniser/built-in.ts');
