// Recognition: of the built-in recogniser, or with --model of a speech model (bench/recogniser.md).
await(process.argv.includes('--model') ? import('./recogniser/model.ts') : import('./recogniser/built-in.ts'));
