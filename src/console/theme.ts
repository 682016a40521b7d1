import { createTheme, type CSSVariablesResolver } from '@mantine/core';

/** Teal of the mark: shade 7 carries white text, shade 4 stands on dark. Sizes are those of a tool that people look at all day. */
export const theme = createTheme({
  primaryColor: 'offhook',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  colors: {
    offhook: ['#e6f8f5', '#c9ede8', '#9edcd3', '#6fc9bd', '#46b6a8', '#22a192', '#11897c', '#0b7267', '#095b53', '#06443e'],
    // Mantine takes texts from the first, borders from the fifth, fields from the seventh, and the page from the eighth.
    dark: ['#e3e6e9', '#c9ced3', '#a9b1bb', '#7f8891', '#34393e', '#22262a', '#1b1e21', '#141619', '#101214', '#0b0c0e'],
  },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Devanagari", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.3' },
      h2: { fontSize: '1.25rem', lineHeight: '1.35' },
      h3: { fontSize: '1.125rem', lineHeight: '1.4' },
      h4: { fontSize: '1rem', lineHeight: '1.4' },
      h5: { fontSize: '0.875rem', lineHeight: '1.5' },
      h6: { fontSize: '0.8125rem', lineHeight: '1.5' },
    },
  },
  defaultRadius: 'md',
  radius: { xs: '2px', sm: '5px', md: '6px', lg: '10px', xl: '16px' },
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs', comboboxProps: { transitionProps: { duration: 0 } } } },
    Autocomplete: { defaultProps: { size: 'xs' } },
    TagsInput: { defaultProps: { size: 'xs' } },
    NativeSelect: { defaultProps: { size: 'xs' } },
    FileInput: { defaultProps: { size: 'xs' } },
    Paper: { defaultProps: { radius: 'lg' } },
    Card: { defaultProps: { radius: 'lg' } },
    Modal: { defaultProps: { radius: 'lg', overlayProps: { backgroundOpacity: 0.4 } } },
    Table: { defaultProps: { verticalSpacing: 6, fz: 'sm' } },
    Tabs: { defaultProps: { radius: 'sm' } },
  },
});

/** Mantine's own grey texts are too faint for WCAG AA; its borders are louder than content. */
export const themeVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': '#15181b',
    '--mantine-color-dimmed': '#545d69',
    '--mantine-color-placeholder': '#68707b',
    '--mantine-color-anchor': '#0b7267',
    '--mantine-color-error': '#b3261e',
    '--mantine-color-default-border': '#e2e5e8',
    '--mantine-color-default-hover': '#f4f6f7',
    '--mantine-color-red-filled': '#b3261e',
    '--mantine-color-red-filled-hover': '#971f18',
    '--offhook-bar': '#f8f9fa',
    '--offhook-chosen': '#e8ebee',
    '--offhook-urgent': '#8c1d18',
    '--offhook-urgent-behind': '#fbe3e1',
  },
  dark: {
    '--mantine-color-dimmed': '#a9b1bb',
    '--mantine-color-placeholder': '#98a1ab',
    '--mantine-color-anchor': '#6fc9bd',
    '--mantine-color-error': '#ff8a80',
    '--mantine-color-red-filled': '#b3261e',
    '--mantine-color-red-filled-hover': '#971f18',
    '--offhook-bar': '#101214',
    '--offhook-chosen': '#262a2e',
    '--offhook-urgent': '#ffb4ab',
    '--offhook-urgent-behind': '#55211d',
  },
});
