import { type CSSVariablesResolver, createTheme } from '@mantine/core';

/** Teal of the mark: shade 7 carries white text, shade 4 stands on dark. */
export const theme = createTheme({
  primaryColor: 'offhook',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  colors: {
    offhook: ['#e6f8f5', '#c9ede8', '#9edcd3', '#6fc9bd', '#46b6a8', '#22a192', '#11897c', '#0b7267', '#095b53', '#06443e'],
  },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Devanagari", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  headings: { fontWeight: '600' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
});

/** Mantine's own grey texts are too faint for WCAG AA. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#545d69',
    '--mantine-color-placeholder': '#68707b',
    '--mantine-color-anchor': '#0b7267',
    '--mantine-color-error': '#b3261e',
  },
  dark: {
    '--mantine-color-dimmed': '#a9b1bb',
    '--mantine-color-placeholder': '#98a1ab',
    '--mantine-color-anchor': '#6fc9bd',
    '--mantine-color-error': '#ff8a80',
  },
});
