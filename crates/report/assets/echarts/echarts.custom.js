// What the page of a report draws with, and nothing else of Apache ECharts.
import * as core from 'echarts/core';
import { CustomChart, LineChart } from 'echarts/charts';
import {
  AxisPointerComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, MarkPointComponent,
  TitleComponent, TooltipComponent
} from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';
core.use([
  AxisPointerComponent, CanvasRenderer, CustomChart, GridComponent, LegendComponent, LineChart, MarkAreaComponent,
  MarkLineComponent, MarkPointComponent, TitleComponent, TooltipComponent
]);
export const init = core.init;
export const getInstanceByDom = core.getInstanceByDom;
