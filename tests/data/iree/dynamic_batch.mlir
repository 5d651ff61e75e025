// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @dynamic(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @dynamic(%input0: tensor<?x24x24x3xf32>, %input1: tensor<3x3x3x8xf32>, %input2: tensor<3x3x8x16xf32>, %input3: tensor<3x3x16x8xf32>, %input4: tensor<3x3x8x24xf32>, %input5: tensor<1x1x24x4xf32>) -> (%output0: tensor<?x16x16x4xf32>)"}} {
  %c4096 = arith.constant 4096 : index
  %c96 = arith.constant 96 : index
  %c24576 = arith.constant 24576 : index
  %c10368 = arith.constant 10368 : index
  %c25600 = arith.constant 25600 : index
  %c0 = arith.constant 0 : index
  %c15488 = arith.constant 15488 : index
  %c384 = arith.constant 384 : index
  %c4608 = arith.constant 4608 : index
  %c864 = arith.constant 864 : index
  %c6912 = arith.constant 6912 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c256 = arith.constant 256 : index
  %0 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%0, %c24, %c24, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %1 = arith.muli %0, %c6912 : index
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<?x24x24x3xf32>{%0} in !stream.resource<external>{%1}
  %3 = stream.async.cast on(#hal.device.affinity<@__device_0>) %2 : !stream.resource<external>{%1} -> !stream.resource<*>{%1}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x8xf32> in !stream.resource<external>{%c864}
  %5 = stream.async.cast on(#hal.device.affinity<@__device_0>) %4 : !stream.resource<external>{%c864} -> !stream.resource<*>{%c864}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c3, %c3, %c8, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<3x3x8x16xf32> in !stream.resource<external>{%c4608}
  %7 = stream.async.cast on(#hal.device.affinity<@__device_0>) %6 : !stream.resource<external>{%c4608} -> !stream.resource<*>{%c4608}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c3, %c3, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %8 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<3x3x16x8xf32> in !stream.resource<external>{%c4608}
  %9 = stream.async.cast on(#hal.device.affinity<@__device_0>) %8 : !stream.resource<external>{%c4608} -> !stream.resource<*>{%c4608}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c3, %c3, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %10 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<3x3x8x24xf32> in !stream.resource<external>{%c6912}
  %11 = stream.async.cast on(#hal.device.affinity<@__device_0>) %10 : !stream.resource<external>{%c6912} -> !stream.resource<*>{%c6912}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %12 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x4xf32> in !stream.resource<external>{%c384}
  %13 = stream.async.cast on(#hal.device.affinity<@__device_0>) %12 : !stream.resource<external>{%c384} -> !stream.resource<*>{%c384}
  %14 = arith.muli %0, %c15488 : index
  %15 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dynamic_dispatch_0::@dynamic_dispatch_0_conv_Dx22x22x8x3x3x3_f32[%0](%3[%c0 to %1 for %1], %5[%c0 to %c864 for %c864], %0) : (!stream.resource<*>{%1}, !stream.resource<*>{%c864}, index) -> !stream.resource<*>{%14}
  %16 = arith.muli %0, %c25600 : index
  %17 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dynamic_dispatch_1::@dynamic_dispatch_1_conv_Dx20x20x16x3x3x8_f32[%0](%15[%c0 to %14 for %14], %7[%c0 to %c4608 for %c4608], %0) : (!stream.resource<*>{%14}, !stream.resource<*>{%c4608}, index) -> !stream.resource<*>{%16}
  %18 = arith.muli %0, %c10368 : index
  %19 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dynamic_dispatch_2::@dynamic_dispatch_2_conv_Dx18x18x8x3x3x16_f32[%0](%17[%c0 to %16 for %16], %9[%c0 to %c4608 for %c4608], %0) : (!stream.resource<*>{%16}, !stream.resource<*>{%c4608}, index) -> !stream.resource<*>{%18}
  %20 = arith.muli %0, %c24576 : index
  %21 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dynamic_dispatch_3::@dynamic_dispatch_3_conv_Dx16x16x24x3x3x8_f32[%0](%19[%c0 to %18 for %18], %11[%c0 to %c6912 for %c6912], %0) : (!stream.resource<*>{%18}, !stream.resource<*>{%c6912}, index) -> !stream.resource<*>{%20}
  %22 = arith.muli %0, %c256 overflow<nsw> : index
  %23 = arith.muli %22, %c96 : index
  %24 = arith.muli %22, %c16 : index
  %25 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dynamic_dispatch_4::@dynamic_dispatch_4_matmul_like_Dx4x24_f32[%22](%22, %21[%c0 to %23 for %23], %13[%c0 to %c384 for %c384]) : (index, !stream.resource<*>{%23}, !stream.resource<*>{%c384}) -> !stream.resource<*>{%24}
  %26 = arith.muli %0, %c4096 : index
  %27 = stream.async.cast on(#hal.device.affinity<@__device_0>) %25 : !stream.resource<*>{%26} -> !stream.resource<external>{%26}
  %28 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %27 : tensor<?x16x16x4xf32>{%0} in !stream.resource<external>{%26} -> !hal.buffer_view
  util.return %28 : !hal.buffer_view
}

// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @dynamic(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @dynamic(%input0: tensor<?x24x24x3xf32>, %input1: tensor<3x3x3x8xf32>, %input2: tensor<3x3x8x16xf32>, %input3: tensor<3x3x16x8xf32>, %input4: tensor<3x3x8x24xf32>, %input5: tensor<1x1x24x4xf32>) -> (%output0: tensor<?x16x16x4xf32>)"}} {
  %c4096 = arith.constant 4096 : index
  %c24576 = arith.constant 24576 : index
  %c10368 = arith.constant 10368 : index
  %c25600 = arith.constant 25600 : index
  %c0 = arith.constant 0 : index
  %c15488 = arith.constant 15488 : index
  %c384 = arith.constant 384 : index
  %c4608 = arith.constant 4608 : index
  %c864 = arith.constant 864 : index
  %c6912 = arith.constant 6912 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c256 = arith.constant 256 : index
  %0 = hal.buffer_view.dim<%arg0 : !hal.buffer_view>[0] : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%0, %c24, %c24, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %1 = arith.muli %0, %c6912 : index
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<?x24x24x3xf32>{%0} in !stream.resource<external>{%1}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %3 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x8xf32> in !stream.resource<external>{%c864}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c3, %c3, %c8, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<3x3x8x16xf32> in !stream.resource<external>{%c4608}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c3, %c3, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %5 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<3x3x16x8xf32> in !stream.resource<external>{%c4608}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c3, %c3, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<3x3x8x24xf32> in !stream.resource<external>{%c6912}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %7 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x4xf32> in !stream.resource<external>{%c384}
  %8 = arith.muli %0, %c15488 : index
  %9 = arith.muli %0, %c25600 : index
  %10 = arith.muli %0, %c10368 : index
  %11 = arith.muli %0, %c24576 : index
  %12 = arith.muli %0, %c256 overflow<nsw> : index
  %13 = arith.muli %0, %c4096 : index
  %c0_0 = arith.constant 0 : index
  %result, %result_timepoint = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<external>{%13} => !stream.timepoint
  %14:5 = stream.resource.pack on(#hal.device.affinity<@__device_0>) slices({
    [0, 1] = %8,
    [1, 2] = %9,
    [2, 3] = %10,
    [3, 4] = %11
  }) : index
  %result_1, %result_timepoint_2 = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<transient>{%14#0} => !stream.timepoint
  %15 = stream.timepoint.join max(%result_timepoint, %result_timepoint_2) => !stream.timepoint
  %16 = stream.cmd.execute on(#hal.device.affinity<@__device_0>) await(%15) => with(%2 as %arg6: !stream.resource<external>{%1}, %3 as %arg7: !stream.resource<external>{%c864}, %4 as %arg8: !stream.resource<external>{%c4608}, %5 as %arg9: !stream.resource<external>{%c4608}, %6 as %arg10: !stream.resource<external>{%c6912}, %7 as %arg11: !stream.resource<external>{%c384}, %result as %arg12: !stream.resource<external>{%13}, %result_1 as %arg13: !stream.resource<transient>{%14#0}) {
    stream.cmd.dispatch @dynamic_dispatch_0::@dynamic_dispatch_0_conv_Dx22x22x8x3x3x3_f32[%0](%0 : index) {
      ro %arg6[%c0 for %1] : !stream.resource<external>{%1},
      ro %arg7[%c0 for %c864] : !stream.resource<external>{%c864},
      wo %arg13[%14#1 for %8] : !stream.resource<transient>{%14#0}
    }
    stream.cmd.dispatch @dynamic_dispatch_1::@dynamic_dispatch_1_conv_Dx20x20x16x3x3x8_f32[%0](%0 : index) {
      ro %arg13[%14#1 for %8] : !stream.resource<transient>{%14#0},
      ro %arg8[%c0 for %c4608] : !stream.resource<external>{%c4608},
      wo %arg13[%14#2 for %9] : !stream.resource<transient>{%14#0}
    }
    stream.cmd.dispatch @dynamic_dispatch_2::@dynamic_dispatch_2_conv_Dx18x18x8x3x3x16_f32[%0](%0 : index) {
      ro %arg13[%14#2 for %9] : !stream.resource<transient>{%14#0},
      ro %arg9[%c0 for %c4608] : !stream.resource<external>{%c4608},
      wo %arg13[%14#3 for %10] : !stream.resource<transient>{%14#0}
    }
    stream.cmd.dispatch @dynamic_dispatch_3::@dynamic_dispatch_3_conv_Dx16x16x24x3x3x8_f32[%0](%0 : index) {
      ro %arg13[%14#3 for %10] : !stream.resource<transient>{%14#0},
      ro %arg10[%c0 for %c6912] : !stream.resource<external>{%c6912},
      wo %arg13[%14#4 for %11] : !stream.resource<transient>{%14#0}
    }
    stream.cmd.dispatch @dynamic_dispatch_4::@dynamic_dispatch_4_matmul_like_Dx4x24_f32[%12](%12 : index) {
      ro %arg13[%14#4 for %11] : !stream.resource<transient>{%14#0},
      ro %arg11[%c0 for %c384] : !stream.resource<external>{%c384},
      wo %arg12[%c0_0 for %13] : !stream.resource<external>{%13}
    }
  } => !stream.timepoint
  %17 = stream.resource.dealloca on(#hal.device.affinity<@__device_0>) await(%16) => %result_1 : !stream.resource<transient>{%14#0} => !stream.timepoint
  %18 = stream.timepoint.join max(%17, %16) => !stream.timepoint
  %19 = stream.timepoint.await %18 => %result : !stream.resource<external>{%13}
  %20 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %19 : tensor<?x16x16x4xf32>{%0} in !stream.resource<external>{%13} -> !hal.buffer_view
  util.return %20 : !hal.buffer_view
}

