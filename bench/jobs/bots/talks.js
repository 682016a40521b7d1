/** One sentence after the other, each its own, for as long as the call goes on. */
export async function* respond() {
  for (let sentence = 1; sentence < 10_000; sentence += 1)
    yield { type: 'say', text: `This is sentence ${sentence} of all that there is to say about it.`, interruptible: 'never' };
}
