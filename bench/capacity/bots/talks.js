/** Talks without end where the called number says so; else answers each turn with one sentence. */
export async function* respond(turn) {
  const call = Number(turn.call.from.slice(5));
  if (process.env.BENCH_WORKLOAD === 'W2') {
    for (let sentence = 0; sentence < 10_000; sentence += 1)
      yield { type: 'say', text: `This is call ${call}, sentence ${sentence}.`, interruptible: 'never' };
  } else if (turn.input.kind === 'spoken') yield { type: 'say', text: `This is call ${call}, turn ${turn.index}.` };
}
