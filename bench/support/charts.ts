// Charts as SVG. Nothing is painted behind them and all colours are mid-tones, so that they can be read on white and
// on black; what shows an SVG as an image does not always tell it which of the two it is on.
import * as echarts from 'echarts';

export interface Series {
  name: string;
  /** One a category; null: no bar. */
  values: (number | null)[];
  colour: string;
  /** As a paler bar, for what is the lesser of two. */
  pale?: boolean;
}

export interface Chart {
  /** Of the file, without an ending. */
  name: string;
  title: string;
  /** What the bars are in, with the unit. */
  axis: string;
  /** What the categories are. */
  categoryAxis: string;
  categories: string[];
  series: Series[];
  digits: number;
  /** A line across at this value, such as 1 for a ratio. */
  lineAt?: number;
}

/** Lines over time, in panels one below the other. */
export interface LineChart {
  name: string;
  title: string;
  /** What goes to the right. */
  axis: string;
  panels: {
    /** What goes up, from zero. */
    axis: string;
    lines: { name: string; colour: string; points: [number, number][] }[];
  }[];
}

export const COLOURS = ['#3d8bd4', '#d9822b', '#3f9b5f', '#9a6dd0', '#c9587b', '#8b949e'] as const;
export const colour = (at: number): string => COLOURS[at % COLOURS.length] as string;

const TEXT = '#768390';
const LINE = '#76839055';
const WIDTH = 800;
const BAR = 15;
// No name in quotes: the library would not escape them.
const FONT = { fontFamily: 'system-ui, Helvetica, Arial, sans-serif', fontSize: 13, color: TEXT };

/** The room that a text takes, about: nothing here can measure it. */
const textWidth = (text: string) => text.length * 7.2;

export function draw(chart: Chart): string {
  const { categories, series } = chart;
  const bars = Math.max(1, series.length);
  const plot = categories.length * (bars * (BAR + 3) + 18);
  const legend = series.reduce((width, { name }) => width + textWidth(name) + 48, 0);
  const top = series.length > 1 ? 48 + 42 * Math.ceil(legend / WIDTH) : 66;
  const height = top + plot + 56;
  return render(optionsOf(chart, { top, plot }), height);
}

const PANEL = 150;
const PANEL_TOP = 84;

export function drawLines({ title, axis, panels }: LineChart): string {
  const topOf = (at: number) => PANEL_TOP + at * (PANEL + 48);
  const text = { nameTextStyle: FONT, axisLabel: FONT };
  const last = panels.length - 1;
  const options: echarts.EChartsCoreOption = {
    animation: false,
    textStyle: FONT,
    title: { text: title, left: 8, top: 8, textStyle: { ...FONT, fontSize: 15, fontWeight: 600 } },
    legend: { left: 8, top: 36, itemWidth: 14, itemHeight: 12, itemGap: 28, textStyle: FONT },
    grid: panels.map((_, at) => ({ left: 72, right: 64, top: topOf(at), height: PANEL })),
    xAxis: panels.map((_, at) => ({
      ...text,
      gridIndex: at,
      type: 'value',
      max: 'dataMax',
      name: at === last ? axis : '',
      nameLocation: 'middle',
      nameGap: 30,
      axisLabel: { ...FONT, formatter: (value: number) => String(Math.round(value * 100) / 100) },
      splitLine: { lineStyle: { color: LINE } },
    })),
    yAxis: panels.map((panel, at) => ({
      ...text,
      gridIndex: at,
      type: 'value',
      min: 0,
      name: panel.axis,
      splitLine: { lineStyle: { color: LINE } },
    })),
    series: panels.flatMap(({ lines }, at) =>
      lines.map(({ name, colour: color, points }) => ({
        type: 'line',
        silent: true,
        emphasis: { disabled: true },
        name,
        xAxisIndex: at,
        yAxisIndex: at,
        showSymbol: false,
        lineStyle: { color, width: 2 },
        itemStyle: { color },
        data: points,
      })),
    ),
  };
  return render(options, topOf(panels.length) + 20);
}

function render(options: echarts.EChartsCoreOption, height: number): string {
  const instance = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  try {
    instance.setOption(options);
    return `${instance.renderToSVGString()}\n`;
  } finally {
    // Its timers would keep the process.
    instance.dispose();
  }
}

function optionsOf(chart: Chart, { top, plot }: { top: number; plot: number }): echarts.EChartsCoreOption {
  const { title, axis, categoryAxis, categories, series, digits, lineAt } = chart;
  const left = 24 + Math.max(textWidth(categoryAxis), ...categories.map(textWidth));
  return {
    animation: false,
    textStyle: FONT,
    title: { text: title, left: 8, top: 8, textStyle: { ...FONT, fontSize: 15, fontWeight: 600 } },
    legend: { show: series.length > 1, left: 8, top: 36, itemWidth: 14, itemHeight: 12, itemGap: 28, textStyle: FONT },
    grid: { left, right: 64, top, height: plot },
    xAxis: {
      type: 'value',
      name: axis,
      nameLocation: 'middle',
      nameGap: 30,
      nameTextStyle: FONT,
      axisLabel: FONT,
      splitLine: { lineStyle: { color: LINE } },
    },
    yAxis: {
      type: 'category',
      name: categoryAxis,
      nameLocation: 'start',
      nameGap: 8,
      nameTextStyle: { ...FONT, align: 'right', padding: [0, 8, 0, 0] },
      data: categories,
      inverse: true,
      axisLabel: FONT,
      axisTick: { show: false },
      axisLine: { lineStyle: { color: TEXT } },
    },
    series: series.map(({ name, values, colour: color, pale }, at) => ({
      type: 'bar',
      silent: true,
      emphasis: { disabled: true },
      name,
      data: values.map((value) => value ?? '-'),
      barWidth: BAR,
      barGap: '20%',
      // Not opacity, which the label would have too.
      itemStyle: { color: pale ? `${color}8c` : color },
      label: {
        ...FONT,
        fontSize: 12,
        show: true,
        position: 'right',
        formatter: ({ value }: { value: number | string }) => (typeof value === 'number' ? value.toFixed(digits) : ''),
      },
      ...(lineAt !== undefined && at === 0 && { markLine: lineAcross(lineAt) }),
    })),
  };
}

function lineAcross(value: number): object {
  return {
    silent: true,
    symbol: 'none',
    label: { show: false },
    lineStyle: { color: TEXT, type: 'dashed' },
    data: [{ xAxis: value }],
  };
}
