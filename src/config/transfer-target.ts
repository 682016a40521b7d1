import { z } from 'zod';

/** Target of a transfer. */
export const transferTarget = z
  .string()
  .regex(/^(\+[1-9]\d{6,14}|sips?:[^\s<>"']{3,200})$/i, 'a number in E.164 form (+15550100), or a sip: address');
/** How long an agent's phone may ring. */
export const ringMs = z.int().min(5000).max(120_000);
