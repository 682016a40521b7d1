export { ManualClock } from '../../src/kernel/manual-clock.ts';
