import { contractHints, type AnswerContract, mostKeys, type Language } from '../../language/index.ts';
import type { Slot } from './schema.ts';

/** Slots read and spoken by an answer contract. */
export type ContractSlot = Extract<Slot, { kind: 'phone' | 'money' | 'code' | 'email' | 'name' }>;

export function isContractSlot(slot: Slot): slot is ContractSlot {
  return contractKinds.has(slot.kind);
}

const contractKinds: ReadonlySet<Slot['kind']> = new Set(['phone', 'money', 'code', 'email', 'name']);

/** A slot's contract. It has no read-back: a flow confirms with `confirm`. */
export function contractOf(slot: ContractSlot): AnswerContract {
  const readBack = 'never';
  switch (slot.kind) {
    case 'phone':
      return { kind: 'phone', region: slot.region, readBack };
    case 'money':
      return { kind: 'money', currency: slot.currency, readBack };
    case 'code':
      return { kind: 'code', pattern: slot.pattern, check: slot.check, readBack };
    case 'email':
      return { kind: 'email', readBack };
    case 'name':
      return { kind: 'name', least: slot.least, readBack };
  }
}

/** The contract of a question: decides when the answer ends. */
export function contractOfQuestion(slot: Slot): AnswerContract | undefined {
  if (isContractSlot(slot)) return contractOf(slot);
  return slot.kind === 'digits' ? contractOfDigits(slot) : undefined;
}

export function contractOfDigits({ length, least, most }: Extract<Slot, { kind: 'digits' }>): AnswerContract {
  return { kind: 'digits', ...(length === undefined ? { least, most } : { length }), readBack: 'never' };
}

export function contractSlotHints(slot: ContractSlot, language: Language): readonly string[] {
  return contractHints(contractOf(slot), language);
}

/** Keys that complete the answer; 1 for a slot that cannot be typed, so that command keys work. */
export function contractSlotKeys(slot: ContractSlot): number {
  return mostKeys(contractOf(slot)) ?? 1;
}
