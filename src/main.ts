import { buildProgram } from './cli/program.ts';
import { loadEnvFile } from './config/env.ts';

loadEnvFile('.env');
const program = await buildProgram(process.argv.slice(2));
await program.parseAsync();
