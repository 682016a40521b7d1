/** Waits until a condition holds, looking every 20 ms. @throws Error naming what did not happen */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
