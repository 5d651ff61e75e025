// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @first(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @first(%input0: tensor<1x24x24x3xf32>, %input1: tensor<3x3x3x8xf32>, %input2: tensor<3x3x8x16xf32>, %input3: tensor<3x3x16x8xf32>, %input4: tensor<3x3x8x24xf32>, %input5: tensor<1x1x24x4xf32>) -> (%output0: tensor<1x16x16x4xf32>)"}} {
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
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c24, %c24, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x24x24x3xf32> in !stream.resource<external>{%c6912}
  %1 = stream.async.cast on(#hal.device.affinity<@__device_0>) %0 : !stream.resource<external>{%c6912} -> !stream.resource<*>{%c6912}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x8xf32> in !stream.resource<external>{%c864}
  %3 = stream.async.cast on(#hal.device.affinity<@__device_0>) %2 : !stream.resource<external>{%c864} -> !stream.resource<*>{%c864}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c3, %c3, %c8, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<3x3x8x16xf32> in !stream.resource<external>{%c4608}
  %5 = stream.async.cast on(#hal.device.affinity<@__device_0>) %4 : !stream.resource<external>{%c4608} -> !stream.resource<*>{%c4608}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c3, %c3, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<3x3x16x8xf32> in !stream.resource<external>{%c4608}
  %7 = stream.async.cast on(#hal.device.affinity<@__device_0>) %6 : !stream.resource<external>{%c4608} -> !stream.resource<*>{%c4608}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c3, %c3, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %8 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<3x3x8x24xf32> in !stream.resource<external>{%c6912}
  %9 = stream.async.cast on(#hal.device.affinity<@__device_0>) %8 : !stream.resource<external>{%c6912} -> !stream.resource<*>{%c6912}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %10 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x4xf32> in !stream.resource<external>{%c384}
  %11 = stream.async.cast on(#hal.device.affinity<@__device_0>) %10 : !stream.resource<external>{%c384} -> !stream.resource<*>{%c384}
  %12 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_0::@first_dispatch_0_conv_22x22x8x3x3x3_f32(%1[%c0 to %c6912 for %c6912], %3[%c0 to %c864 for %c864]) : (!stream.resource<*>{%c6912}, !stream.resource<*>{%c864}) -> !stream.resource<*>{%c15488}
  %13 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_1::@first_dispatch_1_conv_20x20x16x3x3x8_f32(%12[%c0 to %c15488 for %c15488], %5[%c0 to %c4608 for %c4608]) : (!stream.resource<*>{%c15488}, !stream.resource<*>{%c4608}) -> !stream.resource<*>{%c25600}
  %14 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_2::@first_dispatch_2_conv_18x18x8x3x3x16_f32(%13[%c0 to %c25600 for %c25600], %7[%c0 to %c4608 for %c4608]) : (!stream.resource<*>{%c25600}, !stream.resource<*>{%c4608}) -> !stream.resource<*>{%c10368}
  %15 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_3::@first_dispatch_3_conv_16x16x24x3x3x8_f32(%14[%c0 to %c10368 for %c10368], %9[%c0 to %c6912 for %c6912]) : (!stream.resource<*>{%c10368}, !stream.resource<*>{%c6912}) -> !stream.resource<*>{%c24576}
  %16 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_4::@first_dispatch_4_matmul_like_256x4x24_f32(%15[%c0 to %c24576 for %c24576], %11[%c0 to %c384 for %c384]) : (!stream.resource<*>{%c24576}, !stream.resource<*>{%c384}) -> !stream.resource<*>{%c4096}
  %17 = stream.async.cast on(#hal.device.affinity<@__device_0>) %16 : !stream.resource<*>{%c4096} -> !stream.resource<external>{%c4096}
  %18 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %17 : tensor<1x16x16x4xf32> in !stream.resource<external>{%c4096} -> !hal.buffer_view
  util.return %18 : !hal.buffer_view
}

// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @second(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @second(%input0: tensor<1x24x24x3xf32>, %input1: tensor<3x3x3x8xf32>, %input2: tensor<3x3x8x16xf32>, %input3: tensor<3x3x16x8xf32>, %input4: tensor<3x3x8x24xf32>, %input5: tensor<1x1x24x4xf32>) -> (%output0: tensor<1x16x16x4xf32>)"}} {
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
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c24, %c24, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x24x24x3xf32> in !stream.resource<external>{%c6912}
  %1 = stream.async.cast on(#hal.device.affinity<@__device_0>) %0 : !stream.resource<external>{%c6912} -> !stream.resource<*>{%c6912}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x8xf32> in !stream.resource<external>{%c864}
  %3 = stream.async.cast on(#hal.device.affinity<@__device_0>) %2 : !stream.resource<external>{%c864} -> !stream.resource<*>{%c864}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c3, %c3, %c8, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<3x3x8x16xf32> in !stream.resource<external>{%c4608}
  %5 = stream.async.cast on(#hal.device.affinity<@__device_0>) %4 : !stream.resource<external>{%c4608} -> !stream.resource<*>{%c4608}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c3, %c3, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<3x3x16x8xf32> in !stream.resource<external>{%c4608}
  %7 = stream.async.cast on(#hal.device.affinity<@__device_0>) %6 : !stream.resource<external>{%c4608} -> !stream.resource<*>{%c4608}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c3, %c3, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %8 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<3x3x8x24xf32> in !stream.resource<external>{%c6912}
  %9 = stream.async.cast on(#hal.device.affinity<@__device_0>) %8 : !stream.resource<external>{%c6912} -> !stream.resource<*>{%c6912}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %10 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x4xf32> in !stream.resource<external>{%c384}
  %11 = stream.async.cast on(#hal.device.affinity<@__device_0>) %10 : !stream.resource<external>{%c384} -> !stream.resource<*>{%c384}
  %12 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_0::@first_dispatch_0_conv_22x22x8x3x3x3_f32(%1[%c0 to %c6912 for %c6912], %3[%c0 to %c864 for %c864]) : (!stream.resource<*>{%c6912}, !stream.resource<*>{%c864}) -> !stream.resource<*>{%c15488}
  %13 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_1::@first_dispatch_1_conv_20x20x16x3x3x8_f32(%12[%c0 to %c15488 for %c15488], %5[%c0 to %c4608 for %c4608]) : (!stream.resource<*>{%c15488}, !stream.resource<*>{%c4608}) -> !stream.resource<*>{%c25600}
  %14 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_2::@first_dispatch_2_conv_18x18x8x3x3x16_f32(%13[%c0 to %c25600 for %c25600], %7[%c0 to %c4608 for %c4608]) : (!stream.resource<*>{%c25600}, !stream.resource<*>{%c4608}) -> !stream.resource<*>{%c10368}
  %15 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_3::@first_dispatch_3_conv_16x16x24x3x3x8_f32(%14[%c0 to %c10368 for %c10368], %9[%c0 to %c6912 for %c6912]) : (!stream.resource<*>{%c10368}, !stream.resource<*>{%c6912}) -> !stream.resource<*>{%c24576}
  %16 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @first_dispatch_4::@first_dispatch_4_matmul_like_256x4x24_f32(%15[%c0 to %c24576 for %c24576], %11[%c0 to %c384 for %c384]) : (!stream.resource<*>{%c24576}, !stream.resource<*>{%c384}) -> !stream.resource<*>{%c4096}
  %17 = stream.async.cast on(#hal.device.affinity<@__device_0>) %16 : !stream.resource<*>{%c4096} -> !stream.resource<external>{%c4096}
  %18 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %17 : tensor<1x16x16x4xf32> in !stream.resource<external>{%c4096} -> !hal.buffer_view
  util.return %18 : !hal.buffer_view
}

// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @first(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @first(%input0: tensor<1x24x24x3xf32>, %input1: tensor<3x3x3x8xf32>, %input2: tensor<3x3x8x16xf32>, %input3: tensor<3x3x16x8xf32>, %input4: tensor<3x3x8x24xf32>, %input5: tensor<1x1x24x4xf32>) -> (%output0: tensor<1x16x16x4xf32>)"}} {
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
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c24, %c24, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x24x24x3xf32> in !stream.resource<external>{%c6912}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %1 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x8xf32> in !stream.resource<external>{%c864}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c3, %c3, %c8, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<3x3x8x16xf32> in !stream.resource<external>{%c4608}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c3, %c3, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %3 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<3x3x16x8xf32> in !stream.resource<external>{%c4608}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c3, %c3, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<3x3x8x24xf32> in !stream.resource<external>{%c6912}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %5 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x4xf32> in !stream.resource<external>{%c384}
  %c0_0 = arith.constant 0 : index
  %result, %result_timepoint = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<external>{%c4096} => !stream.timepoint
  %6:5 = stream.resource.pack on(#hal.device.affinity<@__device_0>) slices({
    [0, 1] = %c15488,
    [1, 2] = %c25600,
    [2, 3] = %c10368,
    [3, 4] = %c24576
  }) : index
  %result_1, %result_timepoint_2 = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<transient>{%6#0} => !stream.timepoint
  %7 = stream.timepoint.join max(%result_timepoint, %result_timepoint_2) => !stream.timepoint
  %8 = stream.cmd.execute on(#hal.device.affinity<@__device_0>) await(%7) => with(%0 as %arg6: !stream.resource<external>{%c6912}, %1 as %arg7: !stream.resource<external>{%c864}, %2 as %arg8: !stream.resource<external>{%c4608}, %3 as %arg9: !stream.resource<external>{%c4608}, %4 as %arg10: !stream.resource<external>{%c6912}, %5 as %arg11: !stream.resource<external>{%c384}, %result as %arg12: !stream.resource<external>{%c4096}, %result_1 as %arg13: !stream.resource<transient>{%6#0}) {
    stream.cmd.dispatch @first_dispatch_0::@first_dispatch_0_conv_22x22x8x3x3x3_f32 {
      ro %arg6[%c0 for %c6912] : !stream.resource<external>{%c6912},
      ro %arg7[%c0 for %c864] : !stream.resource<external>{%c864},
      wo %arg13[%6#1 for %c15488] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_1::@first_dispatch_1_conv_20x20x16x3x3x8_f32 {
      ro %arg13[%6#1 for %c15488] : !stream.resource<transient>{%6#0},
      ro %arg8[%c0 for %c4608] : !stream.resource<external>{%c4608},
      wo %arg13[%6#2 for %c25600] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_2::@first_dispatch_2_conv_18x18x8x3x3x16_f32 {
      ro %arg13[%6#2 for %c25600] : !stream.resource<transient>{%6#0},
      ro %arg9[%c0 for %c4608] : !stream.resource<external>{%c4608},
      wo %arg13[%6#3 for %c10368] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_3::@first_dispatch_3_conv_16x16x24x3x3x8_f32 {
      ro %arg13[%6#3 for %c10368] : !stream.resource<transient>{%6#0},
      ro %arg10[%c0 for %c6912] : !stream.resource<external>{%c6912},
      wo %arg13[%6#4 for %c24576] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_4::@first_dispatch_4_matmul_like_256x4x24_f32 {
      ro %arg13[%6#4 for %c24576] : !stream.resource<transient>{%6#0},
      ro %arg11[%c0 for %c384] : !stream.resource<external>{%c384},
      wo %arg12[%c0_0 for %c4096] : !stream.resource<external>{%c4096}
    }
  } => !stream.timepoint
  %9 = stream.resource.dealloca on(#hal.device.affinity<@__device_0>) await(%8) => %result_1 : !stream.resource<transient>{%6#0} => !stream.timepoint
  %10 = stream.timepoint.join max(%9, %8) => !stream.timepoint
  %11 = stream.timepoint.await %10 => %result : !stream.resource<external>{%c4096}
  %12 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %11 : tensor<1x16x16x4xf32> in !stream.resource<external>{%c4096} -> !hal.buffer_view
  util.return %12 : !hal.buffer_view
}

// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @second(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @second(%input0: tensor<1x24x24x3xf32>, %input1: tensor<3x3x3x8xf32>, %input2: tensor<3x3x8x16xf32>, %input3: tensor<3x3x16x8xf32>, %input4: tensor<3x3x8x24xf32>, %input5: tensor<1x1x24x4xf32>) -> (%output0: tensor<1x16x16x4xf32>)"}} {
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
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %c24 = arith.constant 24 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c24, %c24, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x24x24x3xf32> in !stream.resource<external>{%c6912}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %1 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x8xf32> in !stream.resource<external>{%c864}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c3, %c3, %c8, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<3x3x8x16xf32> in !stream.resource<external>{%c4608}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c3, %c3, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %3 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<3x3x16x8xf32> in !stream.resource<external>{%c4608}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c3, %c3, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<3x3x8x24xf32> in !stream.resource<external>{%c6912}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %5 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x4xf32> in !stream.resource<external>{%c384}
  %c0_0 = arith.constant 0 : index
  %result, %result_timepoint = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<external>{%c4096} => !stream.timepoint
  %6:5 = stream.resource.pack on(#hal.device.affinity<@__device_0>) slices({
    [0, 1] = %c15488,
    [1, 2] = %c25600,
    [2, 3] = %c10368,
    [3, 4] = %c24576
  }) : index
  %result_1, %result_timepoint_2 = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<transient>{%6#0} => !stream.timepoint
  %7 = stream.timepoint.join max(%result_timepoint, %result_timepoint_2) => !stream.timepoint
  %8 = stream.cmd.execute on(#hal.device.affinity<@__device_0>) await(%7) => with(%0 as %arg6: !stream.resource<external>{%c6912}, %1 as %arg7: !stream.resource<external>{%c864}, %2 as %arg8: !stream.resource<external>{%c4608}, %3 as %arg9: !stream.resource<external>{%c4608}, %4 as %arg10: !stream.resource<external>{%c6912}, %5 as %arg11: !stream.resource<external>{%c384}, %result as %arg12: !stream.resource<external>{%c4096}, %result_1 as %arg13: !stream.resource<transient>{%6#0}) {
    stream.cmd.dispatch @first_dispatch_0::@first_dispatch_0_conv_22x22x8x3x3x3_f32 {
      ro %arg6[%c0 for %c6912] : !stream.resource<external>{%c6912},
      ro %arg7[%c0 for %c864] : !stream.resource<external>{%c864},
      wo %arg13[%6#1 for %c15488] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_1::@first_dispatch_1_conv_20x20x16x3x3x8_f32 {
      ro %arg13[%6#1 for %c15488] : !stream.resource<transient>{%6#0},
      ro %arg8[%c0 for %c4608] : !stream.resource<external>{%c4608},
      wo %arg13[%6#2 for %c25600] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_2::@first_dispatch_2_conv_18x18x8x3x3x16_f32 {
      ro %arg13[%6#2 for %c25600] : !stream.resource<transient>{%6#0},
      ro %arg9[%c0 for %c4608] : !stream.resource<external>{%c4608},
      wo %arg13[%6#3 for %c10368] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_3::@first_dispatch_3_conv_16x16x24x3x3x8_f32 {
      ro %arg13[%6#3 for %c10368] : !stream.resource<transient>{%6#0},
      ro %arg10[%c0 for %c6912] : !stream.resource<external>{%c6912},
      wo %arg13[%6#4 for %c24576] : !stream.resource<transient>{%6#0}
    }
    stream.cmd.dispatch @first_dispatch_4::@first_dispatch_4_matmul_like_256x4x24_f32 {
      ro %arg13[%6#4 for %c24576] : !stream.resource<transient>{%6#0},
      ro %arg11[%c0 for %c384] : !stream.resource<external>{%c384},
      wo %arg12[%c0_0 for %c4096] : !stream.resource<external>{%c4096}
    }
  } => !stream.timepoint
  %9 = stream.resource.dealloca on(#hal.device.affinity<@__device_0>) await(%8) => %result_1 : !stream.resource<transient>{%6#0} => !stream.timepoint
  %10 = stream.timepoint.join max(%9, %8) => !stream.timepoint
  %11 = stream.timepoint.await %10 => %result : !stream.resource<external>{%c4096}
  %12 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %11 : tensor<1x16x16x4xf32> in !stream.resource<external>{%c4096} -> !hal.buffer_view
  util.return %12 : !hal.buffer_view
}

