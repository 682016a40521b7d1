import { buildProgram } from './cli/program.ts';

const program = await buildProgram(process.argv.slice(2));
await program.parseAsync();
