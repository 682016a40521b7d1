import { z } from 'zod';
import { nearest } from '../../config/nearest.ts';

/** An object of known keys only; an unknown one is reported with the nearest that is known here. */
export function strictGroup<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const texts = issue.keys.map((key) => {
        const meant = nearest(key, Object.keys(shape));
        return meant === undefined ? `no such key: ${key}` : `no such key: ${key}. Did you mean ${meant}?`;
      });
      return `${texts.join(' ')} Allowed here: ${Object.keys(shape).join(', ')}`;
    },
  });
}
