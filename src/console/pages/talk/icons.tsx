import type { ReactNode } from 'react';

/** Strokes of 24 × 24 pictures. */
const PATHS = {
  phone:
    'M6.6 3.5 9 4l1.2 4-2 1.6a13 13 0 0 0 6.2 6.2l1.6-2 4 1.2.5 2.4a2 2 0 0 1-2 2.6C10.800 19.500 4.500 13.200 4 5.500a2 2 0 0 1 2.600-2z',
  microphone: 'M12 3a3 3 0 0 1 3 3v6a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM5 11a7 7 0 0 0 14 0M12 18v3',
  muted: 'M9 9V6a3 3 0 0 1 6 0v6M12 15a3 3 0 0 1-3-3M5 11a7 7 0 0 0 11.500 5.300M19 11a7 7 0 0 1-.6 2.800M12 18v3M4 4l16 16',
  keypad: 'M6 5h.01M12 5h.01M18 5h.01M6 11h.01M12 11h.01M18 11h.01M6 17h.01M12 17h.01M18 17h.01',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
} as const;

/** A picture beside words, or on a button that has a name. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): ReactNode {
  return (
    <svg
      width={18}
      height={18}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'keypad' ? 3 : 2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
