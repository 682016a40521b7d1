import { Group, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Level } from '../../audio/levels.ts';
import classes from './talk.module.css';

const BARS = 24;
/** A screen reader needs no picture a second. */
const TELL_EVERY_MS = 1_000;

/** The level of one side, drawn once a picture without React. */
export function Meter({
  level,
  name,
  label,
  note,
}: {
  readonly level: Level;
  readonly name: string;
  /** What a screen reader calls it. */
  readonly label: string;
  readonly note?: string | undefined;
}): ReactNode {
  const bars = useRef<HTMLDivElement>(null);
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    let toldAtMs = 0;
    let frame = requestAnimationFrame(function draw(nowMs) {
      const value = level.at(nowMs);
      bars.current?.style.setProperty('--level', value.toFixed(3));
      if (nowMs - toldAtMs > TELL_EVERY_MS) {
        toldAtMs = nowMs;
        if (meter.current !== null) meter.current.value = Math.round(value * 100);
      }
      frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [level]);
  return (
    <div className={classes['meter']}>
      <Group gap={6} justify="space-between" wrap="nowrap">
        <Text size="sm" fw={500} truncate>
          {name}
        </Text>
        {note === undefined ? null : (
          <Text size="xs" c="dimmed">
            {note}
          </Text>
        )}
      </Group>
      <meter ref={meter} aria-label={label} min={0} max={100} className={classes['unseen']} />
      <div ref={bars} aria-hidden className={classes['bars']}>
        {Array.from({ length: BARS }, (_, at) => (
          <span key={at} style={{ '--at': at / BARS } as React.CSSProperties} />
        ))}
      </div>
    </div>
  );
}
