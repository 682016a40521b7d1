// npm run bench -- recogniser [--json] [--missed]: the built-in recogniser; with --model, a speech model (see model.ts).
if (process.argv.includes('--model')) await import('./model.ts');
else await import('./built-in.ts');
